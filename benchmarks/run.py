"""Load the same generated events with Spark alone, Trellis, dlt and DuckDB, and print the figures.

make bench                             everything: more than an hour on two cores
make bench ARGS='--quick'              30,000 rows, 3,000 of streams, to see that it runs
make bench ARGS='--rows 1000000 --profile shop --skip dlt --only race'
make bench ARGS='--only merges'        a table in DuckDB of which a tenth is brought again
make bench ARGS='--only rides'          an authored schema: rides as Pinot stores them
make bench ARGS='--only registry'      a server of 10,000 schemas
make bench ARGS='--only shredder'      enriched events of Snowplow into files
make bench ARGS='--only typed_tables'  tables of YTsaurus: sorts, merges, 10,000 chunks
make bench ARGS='--only lake'          Delta tables beside what a person writes for Spark
make bench ARGS='--only streams'       RudderStack's events into parquet:, duckdb: and postgresql:
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import strftime

from contest import (
    COMMAND,
    COPY,
    DLT,
    DUCKDB,
    FLOOR,
    INTO_DUCKDB,
    INTO_POSTGRES,
    PARQUET,
    Data,
    Result,
    contend,
    generated,
    multiplied,
)
from enriched_events import make_run
from event_streams import Streams, temporary_database
from measure import run
from merges import Merges
from rich.console import Console
from rides import Rides
from tables import megabytes, seconds, table, times

ROWS = (300_000, 3_000_000)
PROFILES = ("flat", "shop", "shop_3", "shop_10", "shop_30", "github", "real")
QUICK = 30_000
QUICK_EVENTS = 3_000
DLT_LIMIT = 300_000
CELLS = 12_500_000
WIDTHS = (125, 250, 500, 1_000, 2_000)
SECTIONS = (
    "race", "rows", "columns", "small", "streams", "merges", "rides",
    "registry", "shredder", "typed_tables", "lake",
)  # fmt: skip
"""Methods of `Bench`, in the order in which they run."""
SKIPPABLE = {
    "dlt": (DLT,),
    "parquet": (PARQUET,),
    "duckdb": (INTO_DUCKDB, DUCKDB),
    "postgresql": (INTO_POSTGRES, COPY),
    "command": (COMMAND,),
}


@dataclass(frozen=True)
class Aim:
    """What was aimed at, and what was measured."""

    what: str
    limit: float
    measured: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


class Bench:
    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self.options = options
        self.console = console
        self.folder = Path(options.data)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.skipped = {name for skip in options.skip for name in SKIPPABLE[skip]}
        self.results: list[Result] = []
        self.aims: list[Aim] = []
        self.ordinary: dict[int, Result] = {}

    def race(self) -> None:
        """Every contender on every file."""
        for profile in self.options.profile:
            for rows in self.options.rows:
                data = self._data(profile, rows)
                found = self._contend(data, FLOOR, PARQUET, INTO_DUCKDB, DUCKDB, COMMAND)
                if DLT not in self.skipped:
                    found[DLT] = self._dlt(data)
                self._show(data, found)
                self._judge(found)
                self.save()

    def rows(self) -> None:
        """The time of a row and the memory, as the rows become more."""
        profile = self.options.profile[0]
        small = generated(self.folder, profile, QUICK)
        found = [
            r for r in self.results if r.data.profile == profile and r.contender in (PARQUET, INTO_DUCKDB)
        ]
        if small.rows not in self.options.rows:
            found += self._contend(small, PARQUET, INTO_DUCKDB, repeat=1).values()
        shown = table(
            f"Rows, profile {profile}: the second load, and the most memory each process held",
            "", "rows", "second s", "µs/row", "driver MB", "JVM MB", "workers MB",
        )  # fmt: skip
        for r in sorted(found, key=lambda r: (r.contender, r.data.rows)):
            if not r.error:
                cost = f"{r.second / r.data.rows * 1e6:.2f}"
                sizes = (megabytes(r.peak.get(role)) for role in ("driver", "jvm", "workers"))
                shown.add_row(r.contender, f"{r.data.rows:,}", seconds(r.second), cost, *sizes)
        self.console.print(shown)
        low, high = min(self.options.rows), max(self.options.rows)
        for name in (PARQUET, INTO_DUCKDB):
            sized = {r.data.rows: r for r in found if r.contender == name and not r.error}
            if low < high and low in sized and high in sized:
                slope = (sized[high].second / high) / (sized[low].second / low)
                self._aim(f"{name} a row of {high:,}, in times of one of {low:,}", 1.1, slope)
                if sized[low].peak:
                    growth = sized[high].peak["driver"] / sized[low].peak["driver"]
                    self._aim(f"{name} driver memory at {high:,} rows, in times of {low:,}", 1.1, growth)

    def columns(self) -> None:
        """Twice the columns, half the rows."""
        shown = table(
            f"Columns: {self.options.cells:,} cells each, profile wide",
            "columns", "rows", "first s", "second s", "ns/cell", "Spark alone s", "x floor",
        )  # fmt: skip
        costs = {}
        ours = INTO_DUCKDB if PARQUET in self.skipped else PARQUET
        for width in WIDTHS:
            data = generated(self.folder, "wide", self.options.cells // width, width)
            found = self._contend(data, FLOOR, ours, repeat=1)
            made, floor = found[ours], found[FLOOR]
            if made.error or floor.error:
                shown.add_row(f"{width:,}", f"{data.rows:,}", "", "", "", "", "failed")
                self._tell(f"{width:,} columns: {made.error or floor.error}")
                continue
            costs[width] = made.second / (data.rows * width) * 1e9
            shown.add_row(
                f"{width:,}", f"{data.rows:,}", seconds(made.first), seconds(made.second),
                f"{costs[width]:.0f}", seconds(floor.second), times(made.second, floor.second),
            )  # fmt: skip
        self.console.print(shown)
        if WIDTHS[0] in costs and WIDTHS[-1] in costs:
            slope = costs[WIDTHS[-1]] / costs[WIDTHS[0]]
            self._aim(
                f"{ours} a cell of {WIDTHS[-1]:,} columns, in times of one of {WIDTHS[0]:,}", 1.2, slope
            )

    def small(self) -> None:
        """What a load of 1,000 rows takes from the start of the process to its end."""
        data = generated(self.folder, "flat", 1_000)
        runs = [
            (run("small.py"), *contend(data, [COMMAND, INTO_DUCKDB], 1, self._tell, "--loads", "1").values())
            for _ in range(max(self.options.repeat, 2))
        ]
        spark, command, on_spark = (min(each.wall for each in column) for column in zip(*runs, strict=True))
        shown = table("1,000 rows, from the start of the process to its end", "", "seconds", "x Spark")
        shown.add_row("Spark starts and counts 1,000 rows", seconds(spark), "")
        shown.add_row("trellis load", seconds(command), times(command, spark))
        shown.add_row("the same load in Python", seconds(on_spark), times(on_spark, spark))
        self.console.print(shown)
        self._aim(
            "trellis load of 1,000 rows, in times of Spark's start and a trivial job", 1.25, command / spark
        )

    def streams(self) -> None:
        """Events that name their tables themselves."""
        self.results += Streams(self.options, self.skipped, self.console, self._tell).run()

    def merges(self) -> None:
        """A table of which a tenth is brought again."""
        made = Merges(self.options, self.skipped, self.console, self._tell)
        self.results += made.run()
        for strategy, ratio in made.ratios.items():
            self._aim(f"merge, {strategy}, into duckdb: in times of dlt's speed", 8, ratio, at_least=True)

    def rides(self) -> None:
        """A schema that the user brings."""
        made = Rides(self.options, self.skipped, self.console, self._tell)
        self.results += made.run()
        if made.ratio is not None:
            self._aim("rides by a Pinot schema into parquet: in times of the floor", 1.5, made.ratio)

    def registry(self) -> None:
        """A server of 10,000 schemas."""
        measured = run("registry.py")
        if measured.error:
            self._tell(f"registry: {measured.error}")
            return
        figures = measured.figures
        labels = {
            "list": "list of all schemas",
            "read": "read of a schema, cached",
            "first publication": "first publication into a family of 200 versions",
            "publication": "a later one",
        }
        shown = table("A registry of 10,000 schemas in SQLite, one client", "", "ms", "CPU ms")
        for name, label in labels.items():
            shown.add_row(label, *(f"{figures[name][unit] * 1000:.2f}" for unit in ("seconds", "cpu")))
        self.console.print(shown)
        self._aim("registry: list of 10,000 schemas, seconds", 0.2, figures["list"]["seconds"])
        self._aim(
            "registry: cached reads a second, one core", 1_000, 1 / figures["read"]["cpu"], at_least=True
        )
        self._aim("registry: publication into 200 versions, ms", 50, figures["publication"]["seconds"] * 1000)

    def shredder(self) -> None:
        """Enriched events of Snowplow, with 5 families and with 50."""
        ways = {
            "Parquet": (),
            "Parquet, without validation": ("--without-validation",),
            "CSV": ("--format", "csv"),
            "CSV, without validation": ("--format", "csv", "--without-validation"),
            "ORC": ("--format", "orc"),
            "NDJSON": ("--format", "json", "--layout", "version"),
            "wide rows in Parquet": ("--layout", "wide"),
        }
        rows, out = max(self.options.rows), str(self.folder / "shredded")
        shown = table(f"{rows:,} enriched events, the second run", "", "families", "seconds", "x Spark", "MB")
        measured: dict[tuple[str, int], float] = {}
        for families in (5, 50):
            place = tuple(map(str, make_run(self.folder, rows, families)))
            for name, words in {FLOOR: ("--floor",), **(ways if families == 5 else {"Parquet": ()})}.items():
                result = run("shred.py", *place, out, *words)
                if result.error:
                    self._tell(f"shredder, {name}: {result.error}")
                    continue
                second = measured[name, families] = result.figures["seconds"][-1]
                self._tell(f"shredder, {name}, {families} families: {second:.1f} s")
                floor = measured.get((FLOOR, families), 0.0)
                driver = megabytes(result.peak.get("driver"))
                shown.add_row(name, str(families), seconds(second), times(second, floor), driver)
        self.console.print(shown)
        for name in ways:
            limit = 1.5 if "without" in name else 2
            if {(name, 5), (FLOOR, 5)} <= measured.keys():
                ratio = measured[name, 5] / measured[FLOOR, 5]
                self._aim(f"shredder, {name}, in times of the floor", limit, ratio)
        if {("Parquet", 5), ("Parquet", 50)} <= measured.keys():
            ratio = measured["Parquet", 50] / measured["Parquet", 5]
            self._aim("shredder, 50 families, in times of 5", 1.3, ratio)
        self._load_runs(rows)
        self._load_formats(rows)

    def _load_formats(self, rows: int) -> None:
        """The rows of entities into warehouses, by the format of files."""
        place, outs = tuple(map(str, make_run(self.folder, rows, 5))), []
        for name, words in {"parquet": (), "csv": (), "json": ("--layout", "version")}.items():
            out = str(self.folder / f"shredded-{name}")
            if run("shred.py", *place, out, "--format", name, *words, "--passes", "1").error is None:
                outs.append(f"{name}={out}")
        measured = run("load_formats.py", *outs)
        if measured.error:
            self._tell(f"formats: {measured.error}")
            return
        shown = table(f"Entities of {rows:,} events into warehouses", "", "seconds")
        for name, figure in measured.figures.items():
            shown.add_row(name, seconds(figure["seconds"]))
        self.console.print(shown)

    def _load_runs(self, rows: int) -> None:
        """The loader of runs beside COPY."""
        place = map(str, (*make_run(self.folder, rows, 5), self.folder / f"shredded-{rows}"))
        try:
            with temporary_database() as database:
                measured = run("load_runs.py", *place, database)
        except LookupError as error:
            self._tell(f"loader: {error}")
            return
        if measured.error:
            self._tell(f"loader: {measured.error}")
            return
        load, copy = measured.figures["load"], measured.figures["copy"]
        shown = table(f"{rows:,} shredded events into PostgreSQL", "", "seconds", "x COPY")
        shown.add_row(
            "trellis snowplow load", seconds(load["seconds"]), times(load["seconds"], copy["seconds"])
        )
        shown.add_row("COPY of the same files", seconds(copy["seconds"]), "")
        self.console.print(shown)
        self._aim("loader of runs, in times of COPY", 1.5, load["seconds"] / copy["seconds"])

    def typed_tables(self) -> None:
        """Tables of YTsaurus beside plain Spark, and with many chunks."""
        quick = ("--rows", str(QUICK), "--chunks", "1000") if self.options.quick else ()
        measured = run("typed_tables.py", *quick)
        if measured.error:
            self._tell(f"typed tables: {measured.error}")
            return
        figures, few, many = (measured.figures[name] for name in ("seconds", "few chunks", "many chunks"))
        shown = table("Tables of YTsaurus", "", "seconds")
        for name, value in (*figures.items(), *((f"{name}, many chunks", many[name]) for name in many)):
            shown.add_row(name, seconds(value))
        self.console.print(shown)
        for name, limit in (("sort", 1.3), ("skewed sort", 2.0)):
            self._aim(f"{name}: in times of Spark's sort", limit, figures[name] / figures[f"{name} by Spark"])
        for plain, limit in (("union", 1.3), ("union and sort", 0.8)):
            ratio = figures["sorted merge"] / figures[f"{plain} by Spark"]
            self._aim(f"sorted merge of 8 tables: in times of Spark's {plain}", limit, ratio)
        for form in ("json", "parquet"):
            ratio = figures[f"typed write of {form}"] / figures[f"{form} by Spark"]
            self._aim(f"typed write of {form}: in times of Spark alone", 1.3, ratio)
        for name in ("ordered merge", "unordered merge", "copy", "erase"):
            self._aim(f"{name} of many chunks, seconds", 1.0, many[name])
        for name in ("append of 1,000 rows", "row count", "schema", "alter"):
            self._aim(f"{name}: seconds more with many chunks", 0.1, many[name] - few[name])
        self._aim("read of 1,000 rows, seconds", 0.5, figures["1,000 rows by key"])
        scan, lookup = (figures[f"2 of 50 columns, {layout}"] for layout in ("scan", "lookup"))
        self._aim("2 of 50 columns, scan: in times of lookup", 0.2, scan / lookup)
        strong, weak = (figures[f"50 columns, {mode}"] for mode in ("strong", "weak"))
        self._aim("50 columns, strong: in times of the same rows weak", 0.34, strong / weak)

    def lake(self) -> None:
        """Delta tables beside what a person writes for Spark."""
        rows = max(self.options.rows)
        quick = ("--batches", "6", "--loads", "2") if self.options.quick else ()
        figures: dict[str, float] = {}
        for measure in ("loads", "merges", "batches", "sizes"):
            measured = run("lake.py", measure, str(self.folder), "--rows", str(rows), *quick)
            if measured.error:
                self._tell(f"lake, {measure}: {measured.error}")
            for name, value in measured.figures.items():
                self._tell(f"lake, {name}: {value:.2f} s")
            figures |= measured.figures
        shown = table(f"Delta tables: {rows:,} flat rows, micro-batches of 1,000", "", "seconds")
        for name, value in figures.items():
            shown.add_row(name, seconds(value))
        self.console.print(shown)
        limits = {"load": ("load by Spark", 1.2), "batch": ("batch by Spark", 1.5)}
        limits |= dict.fromkeys(("merge, upsert", "merge, delete-insert"), ("merge by hand", 1.2))
        limits["rows x10 on 2 executors"] = ("rows on 2 executors", 10)
        for name, (peer, limit) in limits.items():
            if name in figures:
                self._aim(f"Delta, {name}: in times of {peer}", limit, figures[name] / figures[peer])

    def verdict(self) -> None:
        if not self.aims:
            return
        largest = max(self.options.rows)
        title = (
            "Aims" if largest >= max(ROWS) else f"Aims: meant for {max(ROWS):,} rows, measured at {largest:,}"
        )
        shown = table(title, "", "aim", "measured", "")
        for aim in self.aims:
            sign = "at least" if aim.at_least else "at most"
            told = "[green]met[/]" if aim.met else "[red]missed[/]"
            shown.add_row(aim.what, f"{sign} {aim.limit:g}", f"{aim.measured:.2f}", told)
        self.console.print(shown)

    def save(self) -> None:
        if self.options.json:
            Path(self.options.json).write_text(json.dumps(self._to_dict(), indent=1))

    def _to_dict(self) -> dict[str, object]:
        return {
            "machine": {
                "cores": os.cpu_count(),
                "system": platform.platform(),
                "python": platform.python_version(),
            },
            "results": [result.to_dict() for result in self.results],
            "aims": [{**vars(aim), "met": aim.met} for aim in self.aims],
        }

    def _contend(self, data: Data, *names: str, repeat: int | None = None) -> dict[str, Result]:
        wanted = [name for name in names if name not in self.skipped]
        found = contend(data, wanted, repeat or self.options.repeat, self._tell)
        self.results += found.values()
        return found

    def _data(self, profile: str, rows: int) -> Data:
        if profile == "real":
            return multiplied(self.folder, Path(self.options.real), rows)
        return generated(self.folder, profile, rows)

    def _dlt(self, data: Data) -> Result:
        """dlt at the better of two settings; beyond DLT_LIMIT rows only with --full."""
        if data.rows > DLT_LIMIT and not self.options.full:
            data = self._data(data.profile, DLT_LIMIT)
        known = [r for r in self.results if r.contender == DLT and r.data == data]
        if known:
            return known[0]
        tries = [contend(data, [DLT], 1, self._tell, "--workers", workers)[DLT] for workers in ("1", "2")]
        best = min(tries, key=lambda r: (r.error is not None, r.second))
        self.results.append(best)
        return best

    def _show(self, data: Data, found: Mapping[str, Result]) -> None:
        shown = table(
            f"{data.profile}, {data.rows:,} rows, {data.megabytes:,.0f} MB",
            "", "start s", "first s", "second s", "CPU s", "rows/s", "MB/s", "x floor", "CPU x", "x dlt",
            "peak MB", "",
        )  # fmt: skip
        floor, dlt = found.get(FLOOR), found.get(DLT)
        for name, r in found.items():
            if r.error:
                shown.add_row(name, *[""] * 10, f"[red]{r.error[:60]}[/]")
                continue
            if name == COMMAND:
                shown.add_row(
                    name, *[""] * 9, megabytes(r.peak.get("all")), f"{r.wall:.1f} s from start to end, once"
                )
                continue
            note = [r.note] if r.note else []
            if r.data.rows != data.rows:
                note.insert(0, f"{r.data.rows:,} rows only")
            shown.add_row(
                name, seconds(r.start), seconds(r.first), seconds(r.second), seconds(r.cpu_second),
                f"{r.rate:,.0f}", f"{r.data.megabytes / r.second:.0f}",
                f"{floor.rate / r.rate:.2f}" if floor and not floor.error else "",
                times(r.cpu_second, floor.cpu_second) if floor and not floor.error else "",
                f"{r.rate / dlt.rate:.1f}" if dlt and not dlt.error else "",
                megabytes(r.peak.get("all")), "; ".join(note),
            )  # fmt: skip
        self.console.print(shown)

    def _judge(self, results: Mapping[str, Result]) -> None:
        """What is aimed at of each profile; seconds, and processor seconds beside them."""
        good = {name: result for name, result in results.items() if not result.error}
        floor, ours, into_duckdb = (good.get(name) for name in (FLOOR, PARQUET, INTO_DUCKDB))
        if floor is None or ours is None:
            return
        name, rows = floor.data.profile, floor.data.rows
        about = f"{name}, {rows:,} rows, parquet:"
        known = 1.5 if name == "shop_30" else 1.0
        self._aim(f"{about} known schema, in times of the floor", known, ours.second / floor.second)
        self._aim(f"{about} the same, processor time", known, ours.cpu_second / floor.cpu_second)
        self._aim(f"{about} the first load, in times of the floor's", 1.1, ours.first / floor.first)
        if name == "shop":
            self.ordinary[rows] = ours
        elif name == "shop_30" and rows in self.ordinary:
            per_row = self.ordinary[rows].cpu_second / rows
            more = (ours.cpu_second - self.ordinary[rows].cpu_second) / (0.29 * rows)
            self._aim(
                f"{rows:,} rows: a row that misfits, in times of an ordinary one", 10, 1 + more / per_row
            )
        if into_duckdb is not None:
            ratio = into_duckdb.second / ours.second
            self._aim(f"{name}, {rows:,} rows, duckdb: in times of parquet:", 1.3, ratio)
        if DLT in good and name in ("shop", "github", "real"):
            ratio = ours.rate / good[DLT].rate
            self._aim(f"{about} rows a second, in times of dlt", 10, ratio, at_least=True)

    def _aim(self, what: str, limit: float, measured: float, at_least: bool = False) -> None:
        self.aims.append(Aim(what, limit, measured, at_least))

    def _tell(self, what: str) -> None:
        self.console.print(f"{strftime('%H:%M:%S')}  {what}", style="dim")


def _options() -> argparse.Namespace:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument(
        "--rows", type=int, action="append", metavar="N", help="again for more (300000 and 3000000)"
    )
    made.add_argument("--profile", action="append", choices=PROFILES, help="again for more (all but real)")
    made.add_argument("--real", metavar="FILE", help="records for the profile real: a JSON array")
    made.add_argument("--quick", action="store_true", help="30,000 rows (streams: 3,000), once, few cells")
    made.add_argument(
        "--skip", action="append", choices=tuple(SKIPPABLE), default=[], help="leave a contender out"
    )
    made.add_argument("--only", action="append", choices=SECTIONS, help="some sections")
    made.add_argument("--full", action="store_true", help=f"let dlt load more than {DLT_LIMIT:,} rows too")
    made.add_argument("--dialect", default="rudderstack", help="that of the streams (rudderstack)")
    made.add_argument("--repeat", type=int, default=3, help="runs of each contender; the median counts (3)")
    made.add_argument(
        "--data", default=os.path.join(tempfile.gettempdir(), "trellis-bench"), help="where files go"
    )
    made.add_argument("--json", metavar="FILE", help="write all figures to FILE too")
    options = made.parse_args()
    options.events = sorted(options.rows or ([QUICK_EVENTS] if options.quick else ROWS))
    options.rows = sorted(options.rows or ([QUICK] if options.quick else ROWS))
    options.profile = options.profile or [*PROFILES[:-1], *(["real"] if options.real else [])]
    options.cells = CELLS // 20 if options.quick else CELLS
    options.repeat = 1 if options.quick else options.repeat
    return options


def main() -> None:
    options = _options()
    console = Console(width=None if os.isatty(1) else 160)
    bench = Bench(options, console)
    for section in options.only or SECTIONS:
        getattr(bench, section)()
        bench.save()
    bench.verdict()


if __name__ == "__main__":
    main()
