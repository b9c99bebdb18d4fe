"""What a component makes of many inputs, written down in files: a change of behaviour changes these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trellis.errors import SchemaError


@dataclass(frozen=True)
class GoldenFiles:
    """The files `*.txt` of a folder: what gives the lines of each, by its stem."""

    folder: Path
    lines: Mapping[str, Callable[[], Iterable[str]]]

    def render(self, name: str) -> str:
        return "\n".join(self.lines[name]()) + "\n"

    def read(self, name: str) -> str:
        return (self.folder / f"{name}.txt").read_text(encoding="utf-8")

    def stored_names(self) -> set[str]:
        return {path.stem for path in self.folder.iterdir()}

    def write_all(self) -> None:
        for name in self.lines:
            (self.folder / f"{name}.txt").write_text(self.render(name), encoding="utf-8")


def lines_or_refusal(render: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return list(render())
    except SchemaError as bad:
        return [f"!! {bad}"]
