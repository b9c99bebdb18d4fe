"""A format as `--format` names it: `json`, `<format=text>yson`, `<columns=[a;b]>schemaful_dsv`."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from trellis.dialects.ytsaurus.errors import YtError
from trellis.dialects.ytsaurus.formats.dsv import SchemafulDsv, read_dsv, write_dsv
from trellis.dialects.ytsaurus.formats.json_lines import from_json, read_json, to_json, write_json
from trellis.dialects.ytsaurus.formats.row import ReadingNotes, Row
from trellis.dialects.ytsaurus.formats.skiff import SkiffRows
from trellis.dialects.ytsaurus.formats.yaml_rows import dump_yaml, load_yaml, read_yaml, write_yaml
from trellis.dialects.ytsaurus.formats.yson_rows import read_yson, write_yson
from trellis.dialects.ytsaurus.schema.document import parse_flag
from trellis.dialects.ytsaurus.values.validation import ValueForms
from trellis.dialects.ytsaurus.yson.parser import loads
from trellis.dialects.ytsaurus.yson.values import Attributed, split_attributes, to_key
from trellis.dialects.ytsaurus.yson.writer import dumps
from trellis.errors import nearest

NAMES: Final = ("yson", "json", "dsv", "schemaful_dsv", "yaml", "arrow", "parquet", "skiff")
_MARKS: Final = ("table_index", "range_index", "row_index")


@dataclass(frozen=True)
class TablePart:
    """Rows of a range of a table, from the row `row_index` of the table on."""

    range_index: int
    row_index: int
    rows: Iterable[Row]


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
        return cls.from_document(loads(text))

    @classmethod
    def from_document(cls, document: Any) -> Format:
        """The format of a name with attributes. Raises YtError."""
        name, attributes = split_attributes(document)
        text = to_key(name) if isinstance(name, str | bytes) else str(name)
        if text not in NAMES:
            raise YtError(f"there is no format {text!r}{nearest(text, NAMES)}")
        return cls(text, attributes)

    @property
    def forms(self) -> ValueForms:
        """How values of its rows are to be understood. Raises YtError for a mode that is not known."""
        uuid_mode: Any = self._mode("uuid_mode", "binary", "text_yt", "text_yql")
        every = self._flag("enable_type_conversion")
        return ValueForms(
            positional=self._mode("complex_type_mode", "named", "positional") == "positional",
            named_dicts=self._mode("string_keyed_dict_mode", "positional", "named") == "named",
            integral_to_double=every or self._flag("enable_integral_to_double_conversion"),
            string_to_all=every or self._flag("enable_string_to_all_conversion"),
            all_to_string=every or self._flag("enable_all_to_string_conversion"),
            decimal_as_text=self._mode("decimal_mode", "binary", "text") == "text",
            time_as_text=self._mode("time_mode", "binary", "text") == "text",
            uuid=uuid_mode,
        )

    def read_rows(self, source: bytes | BinaryIO, notes: ReadingNotes | None = None) -> Iterator[Row]:
        """The rows of a document, read as they are needed. Raises YtError with the place.

        `notes` has afterwards what the format left out.
        """
        stream = io.BytesIO(source) if isinstance(source, bytes) else source
        match self.name:
            case "yson":
                return read_yson(stream)
            case "json":
                return read_json(stream, encode_utf8=self._flag("encode_utf8", True))
            case "dsv":
                return read_dsv(stream, ReadingNotes() if notes is None else notes)
            case "yaml":
                return read_yaml(stream)
            case "skiff":
                return SkiffRows.parse(self.attributes).read_rows(stream)
        return self._schemaful().read_rows(stream)

    def loads(self, data: bytes) -> Any:
        """A single value. Raises YtError."""
        match self.name:
            case "yson":
                return loads(data)
            case "json":
                try:
                    document = json.loads(data)
                except ValueError as error:
                    raise YtError(f"the value is not JSON: {error}") from None
                return from_json(document, encode_utf8=self._flag("encode_utf8", True))
            case "yaml":
                return load_yaml(data)
        raise self._no_value()

    def dumps(self, value: Any) -> bytes:
        """The bytes of a single value. Raises YtError."""
        match self.name:
            case "yson":
                form: Any = self._text("format", "text")
                return dumps(value, yson_format=form)
            case "json":
                return json.dumps(to_json(value, encode_utf8=self._flag("encode_utf8", True))).encode()
            case "yaml":
                return dump_yaml(value)
        raise self._no_value()

    def _no_value(self) -> YtError:
        return YtError(f"a value has no format {self.name}; expected yson, json or yaml")

    @property
    def is_arrow(self) -> bool:
        """Whether its rows are columns of Arrow, which are not read and written here."""
        return self.name in ("arrow", "parquet")

    def check_controls(self, controls: Mapping[str, Any]) -> None:
        """Raises YtError where marks are asked for that the format does not have."""
        if self.name not in ("yson", "json", "skiff") and any(
            controls.get(f"enable_{name}") is True for name in _MARKS
        ):
            raise YtError(
                f"the format {self.name} has no control attributes; read the table as yson, json or skiff"
            )

    def write_parts(self, parts: Iterable[TablePart], controls: Mapping[str, Any]) -> Iterator[bytes]:
        """The bytes of ranges of a table, as they are read.

        `controls` asks for marks before each: enable_table_index, enable_range_index, enable_row_index.
        """
        self.check_controls(controls)
        if self.name == "skiff":
            skiff = SkiffRows.parse(self.attributes)
            for part in parts:
                yield from skiff.write_rows(part.rows, part.range_index, part.row_index)
            return
        for part in parts:
            places = (0, part.range_index, part.row_index)
            marks = {
                name: place
                for name, place in zip(_MARKS, places, strict=True)
                if controls.get(f"enable_{name}") is True
            }
            yield self.write_marks(marks)
            yield from self.write_rows(part.rows)

    def write_rows(self, rows: Iterable[Row]) -> Iterator[bytes]:
        """The bytes of rows in a format that needs no schema, a row at a time."""
        if self._flag("skip_null_values"):
            rows = ({name: value for name, value in row.items() if value is not None} for row in rows)
        match self.name:
            case "yson":
                return write_yson(rows, self._text("format", "binary"))
            case "json":
                return write_json(rows, encode_utf8=self._flag("encode_utf8", True))
            case "dsv":
                return write_dsv(rows)
            case "yaml":
                return write_yaml(rows)
        return self._schemaful().write_rows(rows)

    def write_marks(self, marks: Mapping[str, int]) -> bytes:
        """Control attributes: of which table, range and row what follows is. Of yson and json alone."""
        if not marks:
            return b""
        items = [Attributed(None, {name: value}) for name, value in marks.items()]
        if self.name == "yson":
            form: Any = self._text("format", "binary")
            return dumps(items, yson_format=form, yson_type="list_fragment")
        return b"".join(json.dumps(to_json(item)).encode() + b"\n" for item in items)

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

    def _mode(self, name: str, *choices: str) -> str:
        """One of some words, by default the first."""
        mode = self._text(name, choices[0])
        if mode not in choices:
            raise YtError(f"{name} of the format {self.name} is {mode!r}; expected {' or '.join(choices)}")
        return mode

    def _text(self, name: str, default: str) -> str:
        return to_key(self.attributes.get(name, default))
