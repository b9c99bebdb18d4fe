"""A format as `--format` names it: `json`, `<format=text>yson`, `<columns=[a;b]>schemaful_dsv`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.dsv import SchemafulDsv, read_dsv, write_dsv
from trellis.dialects.ytsaurus.formats.json_lines import read_json, to_json, write_json
from trellis.dialects.ytsaurus.formats.row import Row
from trellis.dialects.ytsaurus.formats.yson_rows import read_yson, write_yson
from trellis.dialects.ytsaurus.schema.document import parse_flag
from trellis.dialects.ytsaurus.values.validation import ValueForms
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes, to_key
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.errors import nearest

NAMES: Final = ("yson", "json", "dsv", "schemaful_dsv")


@dataclass(frozen=True)
class Format:
    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Format:
        """Raises YtError for a format that is not known.

        >>> Format.parse("<format=text>yson").attributes
        {'format': 'text'}
        """
        name, attributes = split_attributes(loads(text))
        if not isinstance(name, str | bytes) or to_key(name) not in NAMES:
            raise YtError(f"there is no format {text!r}{nearest(text, NAMES)}")
        return cls(to_key(name), attributes)

    @property
    def forms(self) -> ValueForms:
        """How values of its rows are to be understood."""
        every = self._flag("enable_type_conversion")
        return ValueForms(
            positional=self._text("complex_type_mode", "named") == "positional",
            named_dicts=self._text("string_keyed_dict_mode", "positional") == "named",
            integral_to_double=every or self._flag("enable_integral_to_double_conversion"),
            string_to_all=every or self._flag("enable_string_to_all_conversion"),
            all_to_string=every or self._flag("enable_all_to_string_conversion"),
        )

    def read_rows(self, data: bytes) -> Iterator[Row]:
        """The rows of a document. Raises YtError with the place."""
        match self.name:
            case "yson":
                return read_yson(data)
            case "json":
                return read_json(data, encode_utf8=self._flag("encode_utf8", True))
            case "dsv":
                return read_dsv(data)
        return self._schemaful().read_rows(data)

    def write_rows(self, rows: Iterable[Row]) -> Iterator[bytes]:
        """The bytes of rows, a row at a time."""
        if self._flag("skip_null_values"):
            rows = ({name: value for name, value in row.items() if value is not None} for row in rows)
        match self.name:
            case "yson":
                return write_yson(rows, self._text("format", "binary"))
            case "json":
                return write_json(rows, encode_utf8=self._flag("encode_utf8", True))
            case "dsv":
                return write_dsv(rows)
        return self._schemaful().write_rows(rows)

    def write_marks(self, marks: Mapping[str, int]) -> bytes:
        """Control attributes: of which table, range and row what follows is. Raises YtError."""
        if not marks:
            return b""
        items = [Attributed(None, {name: value}) for name, value in marks.items()]
        match self.name:
            case "yson":
                form: Any = self._text("format", "binary")
                return dumps(items, yson_format=form, yson_type="list_fragment")
            case "json":
                return b"".join(json.dumps(to_json(item)).encode() + b"\n" for item in items)
        raise YtError(f"the format {self.name} has no control attributes; read the table as yson or json")

    def _schemaful(self) -> SchemafulDsv:
        columns = self.attributes.get("columns")
        if not isinstance(columns, list):
            raise YtError("schemaful_dsv needs its columns: <columns=[a;b]>schemaful_dsv")
        mode = self._text("missing_value_mode", "fail")
        return SchemafulDsv(
            tuple(map(to_key, columns)), mode, self._text("missing_value_sentinel", "").encode()
        )

    def _flag(self, name: str, default: bool = False) -> bool:
        if name not in self.attributes:
            return default
        flag = parse_flag(self.attributes[name])
        if flag is None:
            raise YtError(f"{name} of the format {self.name} is not a boolean")
        return flag

    def _text(self, name: str, default: str) -> str:
        return to_key(self.attributes.get(name, default))
