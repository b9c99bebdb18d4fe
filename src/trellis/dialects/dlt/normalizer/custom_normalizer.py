"""A normalizer of JSON that a user wrote: a module with a class `DataItemNormalizer`.

It makes flat rows and says to which tables they belong. Types, contracts and variants are as always.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator, Mapping
from importlib import import_module
from typing import Any, Final

from trellis.dialects.dlt.normalizer.compat import CompatSchema
from trellis.dialects.dlt.normalizer.options import KNOWN, normalizer_of
from trellis.errors import SchemaError, UsageError, nearest
from trellis.evolution.dialect.transforms import EmittedRow
from trellis.schema.model import Schema
from trellis.schema.naming import Naming

CLASS: Final = "DataItemNormalizer"
METHOD: Final = "normalize_data_item"
_EXPECTED: Final = "((table, parent), row) with the names of tables and a dict"


def custom_normalizer_class(schema: Schema) -> type[Any]:
    """The class that the schema names. Raises SchemaError, which says what was tried."""
    module = normalizer_of(schema)
    where = f"schema {schema.name}, normalizers.json.module: {module!r} is not run here"
    try:
        class_ = getattr(import_module(module), CLASS, None)
    except ModuleNotFoundError as why:
        if why.name is None or not f"{module}.".startswith(f"{why.name}."):
            raise SchemaError(f"{where}: it needs the module {why.name!r}, which is not there") from None
        raise SchemaError(
            f"{where}{nearest(module, KNOWN)}; or name a module of your own with a class {CLASS}: there is "
            f"no module {why.name!r} beside the source or on the PYTHONPATH"
        ) from None
    except Exception as why:
        raise SchemaError(f"{where}: importing it failed with {_told(why)}") from why
    if not isinstance(class_, type) or not callable(getattr(class_, METHOD, None)):
        raise SchemaError(
            f"{where}: the module has no class {CLASS} with a method {METHOD}(item, load_id, table_name)"
        )
    return class_


class CustomNormalizer:
    """The user's normalizer for the records of one task.

    Called with a copy of a record, it gives what it tells of each row; what is sent to it is whether that row
    is loaded. Raises UsageError where the user's code fails, or yields something else.
    """

    def __init__(self, schema: Schema, naming: Naming) -> None:
        class_ = custom_normalizer_class(schema)
        self.module = normalizer_of(schema)
        self.naming = naming
        try:
            self._normalizer = class_(CompatSchema(schema, naming))
        except Exception as why:
            raise SchemaError(f"normalizer {self.module} cannot be made: {_told(why)}") from why

    def __call__(
        self, item: Any, load_id: str, table: str, where: str
    ) -> Generator[EmittedRow, bool | None, None]:
        at = f"{where}, table {table}: normalizer {self.module}"
        taken: bool | None = None
        try:
            rows = iter(self._normalizer.normalize_data_item(_copied(item), load_id, table))
            while True:
                yielded = rows.send(taken) if isinstance(rows, Generator) else next(rows)
                taken = yield self._read(yielded, at)
        except StopIteration:
            return
        except UsageError:
            raise
        except Exception as why:
            raise UsageError(f"{at} failed with {_told(why)}; nothing was loaded") from why

    def _read(self, yielded: Any, at: str) -> EmittedRow:
        """What was yielded, with names by the convention: a parent is a name or a path of such, as in dlt."""
        match yielded:
            case ((str() as table, (None | str() | tuple() | list()) as parent, *_), Mapping() as row):
                path = [parent] if isinstance(parent, str) else parent or ()
                if table.strip() and all(isinstance(name, str) for name in (*path, *row)):
                    above = self.naming.join(*path)
                    return EmittedRow(
                        self.naming.table(table), self.naming.table(above) if above else None, row
                    )
            case _:
                pass
        raise UsageError(
            f"{at} yielded {repr(yielded)[:120]}; it has to yield {_EXPECTED}; nothing was loaded"
        )


def _copied(value: Any) -> Any:
    """The user's code may change what it is given, and records are read more than once."""
    if value.__class__ is dict:
        return {key: _copied(member) for key, member in value.items()}
    return [_copied(member) for member in value] if value.__class__ is list else value


def _told(why: Exception) -> str:
    """The exception, and the place in the user's code that raised it."""
    frames = [frame for frame in traceback.extract_tb(why.__traceback__) if frame.filename != __file__]
    frames = [frame for frame in frames if not frame.filename.startswith("<")]
    last = f" ({frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return f"{type(why).__name__}: {why}{last}"
