"""What the user says of how a source is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trellis.engine.input.source_format import SourceFormat
from trellis.errors import UsageError, nearest

_SECRET: Final = re.compile(r"pass|pwd|secret|token|credential|jaas|sas|key$", re.IGNORECASE)
_SECRET_IN_URL: Final = re.compile(
    r"(?i)((?:pass\w*|pwd|secret|token|sig|\w*key)=)[^&;\s'\"]+"
    r"|(://[^/\s:@]*:)[^@/\s]+(?=@)"
    r"|(jdbc:oracle:\w+:[^/\s:@]*/)[^@\s]+(?=@)"
)
KAFKA_COLUMNS: Final = ("topic", "partition", "offset", "timestamp", "key", "headers")
_RESERVED: Final[Mapping[str, str]] = {
    "columnnameofcorruptrecord": "malformed rows are rejected with their text",
    "path": "the source is what is read",
}


@dataclass(frozen=True, repr=False)
class ReadOptions:
    """The format that the user names, and options of Spark's reader for it, by their names in Spark.

    `kafka_columns` are what is loaded of a topic beside the values of its records, `line_extensions` endings
    of files whose lines are records to the dialect.
    Neither `repr` nor a message shows the value of an option that holds a secret.
    """

    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    kafka_columns: tuple[str, ...] = ()
    line_extensions: tuple[str, ...] = ()

    @staticmethod
    def of(format: str | None, options: Mapping[str, Any], kafka_columns: Sequence[str] = ()) -> ReadOptions:
        """The options as Spark takes them, which is as text. Raises UsageError.

        >>> ReadOptions.of("jdbc", {"password": "s3cret", "fetchsize": 500, "pushDownLimit": True})
        ReadOptions(jdbc, password=***, fetchsize='500', pushDownLimit='true')
        """
        values = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in options.items()
        }
        for name, value in values.items():
            if reason := _RESERVED.get(name.lower()):
                raise UsageError(f"read option {name} cannot be set: {reason}")
            if name.lower() == "mode" and value.upper() == "DROPMALFORMED":
                raise UsageError(
                    "read option mode=DROPMALFORMED would lose rows without a trace; leave it out, and "
                    "malformed rows are rejected with their text, or set mode=FAILFAST"
                )
        for name in kafka_columns:
            if name not in KAFKA_COLUMNS:
                raise UsageError(f"kafka column {name!r}: there is none{nearest(name, KAFKA_COLUMNS)}")
        return ReadOptions(format, values, tuple(kafka_columns))

    def over(self, source_format: SourceFormat) -> dict[str, str]:
        """All options of the reader: those of the format, and these in their place, whatever their case."""
        names = {name.lower() for name in self.options}
        defaults = {name: value for name, value in source_format.options.items() if name.lower() not in names}
        return {**defaults, **self.options}

    @property
    def public(self) -> list[str]:
        """The options as text, without secrets."""
        return [
            f"{name}={'***' if _SECRET.search(name) else repr(redacted(value))}"
            for name, value in self.options.items()
        ]

    def redact(self, text: str) -> str:
        """A message without the secrets of these options.

        >>> ReadOptions.of("jdbc", {"password": "s3cret"}).redact("s3cret refused by pg://me:pw@host")
        '*** refused by pg://me:***@host'
        """
        for name, value in self.options.items():
            if value and _SECRET.search(name):
                text = text.replace(value, "***")
        return redacted(text)

    def __repr__(self) -> str:
        return f"ReadOptions({', '.join([str(self.format), *self.public])})"


def redacted(text: str) -> str:
    """A text without the passwords of the URLs in it.

    >>> redacted("jdbc:postgresql://me:s3cret@host/shop?user=me&password=s3cret")
    'jdbc:postgresql://me:***@host/shop?user=me&password=***'
    >>> redacted("jdbc:oracle:thin:scott/tiger@host:1521/shop")
    'jdbc:oracle:thin:scott/***@host:1521/shop'
    """
    return _SECRET_IN_URL.sub(lambda match: f"{match[1] or match[2] or match[3]}***", text)
