"""Where output goes: colour only on a terminal, data never read as markup, long things cut sensibly."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

from trellis.cli.verbosity import is_quiet

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.table import Table

ENDLESS = 1_000_000
"""The width where nobody looks: lines are as long as what stands in them."""
NAME = 48
ProgressCallback = Callable[[str, int, int | None], None]


def console() -> Console:
    """For results."""
    return _console(stderr=False)


def error_console() -> Console:
    """For errors and progress."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    from rich.console import Console

    width = None if _has_width(sys.stderr if stderr else sys.stdout) else ENDLESS
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


def _has_width(stream: TextIO) -> bool:
    """Whether there is a screen that lines have to fit on, or a user who says how wide they are to be."""
    return stream.isatty() or "COLUMNS" in os.environ


completed: dict[str, Any] = {}
"""What a command with --json had done when it failed: it is printed together with the error."""


class Printable(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=Printable)


def print_reports(
    name: str, reports: Iterable[R], as_json: bool, show: Callable[[Sequence[R]], None]
) -> None:
    """Print what a command does one after the other, also what it had done before an error."""
    done: list[R] = []
    try:
        done.extend(reports)
    except BaseException:
        if as_json:
            completed[name] = [report.to_dict() for report in done]
        elif done:
            show(done)
        raise
    if as_json:
        print_json({name: [report.to_dict() for report in done]})
    else:
        show(done)


def print_json(value: Any) -> None:
    """One object on stdout, readable by any program."""
    utf = "utf" in (sys.stdout.encoding or "").lower()
    print(json.dumps(value, ensure_ascii=not utf))


def grid(*columns: str, right: Sequence[str] = (), whole: Sequence[str] = ()) -> Table:
    """A table without frames, indented by two: `right` are numbers, `whole` are never wrapped."""
    from rich.table import Table

    table = Table(
        box=None, show_header=bool(any(columns)), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0)
    )
    for name in columns:
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=name in right or name in whole,
            overflow="fold",
        )
    return table


def indented(what: RenderableType, by: int = 2) -> RenderableType:
    """The same, further to the right, and without the blanks that fill up a line."""
    return _Indented(what, by)


@dataclass(frozen=True)
class _Indented:
    what: RenderableType
    by: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.padding import Padding
        from rich.segment import Segment

        padded = Padding(self.what, (0, 0, 0, self.by), expand=False)
        for line in console.render_lines(padded, options, pad=False):
            while line and not line[-1].text.rstrip():
                line.pop()
            *before, last = line or [Segment("")]
            yield from (*before, Segment(last.text.rstrip(), last.style), Segment.line())


def some(names: Sequence[str], most: int, of: int | None = None) -> str:
    """The first names, and how many more there are (`of` all, if not all are among the names).

    >>> some(["a", "b", "c", "d"], 2), some(["a", "b"], 2), some(["a", "b"], 2, of=5)
    ('a, b and 2 more', 'a, b', 'a, b and 3 more')
    """
    shown = names[:most]
    more = (len(names) if of is None else of) - len(shown)
    return ", ".join(cut(name) for name in shown) + (f" and {more:,} more" if more else "")


def cut(name: str, most: int = NAME) -> str:
    """A name short enough to be shown. It stays whole where no screen limits it."""
    return shortened(name, most) if _has_width(sys.stdout) else name


def shortened(name: str, most: int = NAME) -> str:
    """A name without its middle, if it is longer than that.

    >>> shortened("deep__deep__deep__deep", 13)
    'deep_...._deep'
    """
    if len(name) <= most:
        return name
    half = (most - 3) // 2
    return f"{name[:half]}....{name[-half:]}"


class Member(Protocol):
    """A table, or the report of one."""

    @property
    def name(self) -> str: ...

    @property
    def parent(self) -> str | None: ...


T = TypeVar("T", bound=Member)


def by_parent(tables: Sequence[T]) -> Iterator[tuple[int, T]]:
    """Each table after its parent, with its depth."""
    names = {table.name for table in tables}
    inside: dict[str | None, list[T]] = {}
    for table in tables:
        inside.setdefault(table.parent if table.parent in names else None, []).append(table)
    stack = [(0, table) for table in reversed(inside.get(None, []))]
    while stack:
        depth, table = stack.pop()
        yield depth, table
        stack += ((depth + 1, child) for child in reversed(inside.get(table.name, [])))


def print_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning for users as one line on stderr, and no other."""
    if issubclass(category, UserWarning):
        print(f"note: {message}", file=sys.stderr)


def counted(number: int, what: str) -> str:
    """
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def aside() -> ProgressCallback:
    """Says on stderr, once, for whom a destination waits; of stages it says nothing."""
    from trellis.destinations.waiting import RESUMED

    shown = {RESUMED, *_STAGES}
    if is_quiet():
        return lambda stage, done, total: None

    def tell(stage: str, _: int, __: int | None) -> None:
        if stage not in shown:
            shown.add(stage)
            error_console().print(stage, soft_wrap=True)

    return tell


@contextmanager
def progress() -> Iterator[ProgressCallback]:
    """A bar on stderr that goes away at the end; where stderr is no terminal only what `aside` says."""
    from trellis.destinations.waiting import RESUMED

    say = aside()
    if is_quiet() or not sys.stderr.isatty():
        yield say
        return
    from rich.filesize import decimal
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[size]}"),
        TimeElapsedColumn(),
        console=error_console(),
        transient=True,
    )
    with bar:
        task = bar.add_task("starting", total=None, size="")

        def tell(stage: str, done: int, total: int | None) -> None:
            say(stage, done, total)
            ended = total is not None and done >= total
            words = "writing" if ended else _STAGES.get(stage, stage if stage == RESUMED else "waiting")
            size = f"{decimal(done)} of {decimal(total)}" if total else ""
            bar.update(task, description=words, completed=done, total=total, size=size)

        yield tell


_STAGES = {
    "discover": "starting",
    "spark": "starting Spark",
    "workers": "waiting for workers",
    "load": "loading",
    "inspect": "reading",
    "writing": "writing",
}


@contextmanager
def quiet_children(debug: bool) -> Iterator[None]:
    """Keep what a JVM writes on stderr, and logs, from the user: an error says it in one sentence."""
    before = sys.stderr
    real = before is not None and before is sys.__stderr__
    if debug or not real:
        yield
        return
    logging.disable()
    before.flush()
    ours = os.fdopen(os.dup(2), "w", buffering=1, errors="backslashreplace")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    sys.stderr = ours
    try:
        yield
    finally:
        sys.stderr = before
        ours.flush()
        os.dup2(ours.fileno(), 2)
        ours.close()
