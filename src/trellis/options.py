"""How one load of records into one root table is to be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trellis.config import read_text
from trellis.evolution.dialect import Mode, Request, Strategy
from trellis.schema.model import Column, Schema


def with_files(settings: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    """The settings with the text of the files that these of them name. Raises UsageError."""
    read = {name: read_text(Path(settings[name])) for name in names if _is_path(settings.get(name))}
    return {**settings, **read}


def _is_path(said: Any) -> bool:
    return isinstance(said, Path) or (isinstance(said, str) and not said.lstrip().startswith("{"))


@dataclass(frozen=True)
class Options:
    """What is None or empty follows from the schema or the destination."""

    table: str | None = None
    mode: Mode | None = None
    strategy: Strategy | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    contract: str | Mapping[str, str] | None = None
    schema: Schema | None = None
    max_nesting: int | None = None
    load_id: str | None = None

    def request(self, table: str) -> Request:
        """What is asked of the root table."""
        return Request(
            table=table,
            mode=self.mode,
            strategy=self.strategy,
            keys=self.keys,
            merge_keys=self.merge_keys,
            columns=self.columns,
            contract=self.contract,
            max_nesting=self.max_nesting,
        )
