"""Versions, keys and criteria of schemas (docs/conformance/snowplow.md, R-01 to R-04)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from trellis.dialects.snowplow.identity.errors import IgluError

Kind = Literal["ADDITION", "REVISION", "MODEL"]
"""What a new version is: all historical data fits it; some may not; none can be relied on."""

_URI: Final = re.compile(
    r"iglu:([A-Za-z0-9_.-]+)/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)/([0-9]+-[0-9]+-[0-9]+)", re.ASCII
)
_VERSION: Final = re.compile(r"([1-9][0-9]*)-(0|[1-9][0-9]*)-(0|[1-9][0-9]*)")
_CRITERION: Final = re.compile(
    r"iglu:([A-Za-z0-9_.-]+)/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)/([1-9][0-9]*|\*)-([0-9]+|\*)-([0-9]+|\*)"
)
_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, order=True)
class SchemaVer:
    """Model, revision, addition. Compared by number, which is not the order in which versions were made.

    >>> SchemaVer.parse("1-2-0") < SchemaVer.parse("1-10-0")
    True
    """

    model: int
    revision: int
    addition: int

    @staticmethod
    def parse(text: str) -> SchemaVer:
        """Raises IgluError."""
        match = _VERSION.fullmatch(text)
        numbers = [int(part) for part in match.groups()] if match else []
        if not numbers or max(numbers) > _LARGEST:
            raise IgluError(
                "INVALID_SCHEMAVER",
                f"{text!r} is not a version: expected MODEL-REVISION-ADDITION such as 1-0-0, "
                "a model from 1, no leading zeros, each at most 2147483647",
            )
        return SchemaVer(*numbers)

    @property
    def kind(self) -> Kind | None:
        """What the number declares; None for 1-0-0, which nothing precedes."""
        if self.addition:
            return "ADDITION"
        if self.revision:
            return "REVISION"
        return "MODEL" if self.model > 1 else None

    def __str__(self) -> str:
        return f"{self.model}-{self.revision}-{self.addition}"


@dataclass(frozen=True, order=True)
class Family:
    """The versions of one model, which share a table."""

    vendor: str
    name: str
    format: str
    model: int

    def __str__(self) -> str:
        return f"{self.vendor}/{self.name}/{self.format}/{self.model}"


@dataclass(frozen=True, order=True)
class SchemaKey:
    """The address of a schema."""

    vendor: str
    name: str
    format: str
    version: SchemaVer

    @staticmethod
    @lru_cache(maxsize=4096)
    def parse(uri: str) -> SchemaKey:
        """
        >>> str(SchemaKey.parse("iglu:com.acme/event/jsonschema/1-0-0"))
        'iglu:com.acme/event/jsonschema/1-0-0'

        Raises IgluError.
        """
        match = _URI.fullmatch(uri)
        if match is None:
            raise IgluError(
                "INVALID_IGLUURI",
                f"{uri!r} is not the address of a schema: expected iglu:VENDOR/NAME/FORMAT/VERSION "
                "such as iglu:com.acme/event/jsonschema/1-0-0",
            )
        vendor, name, format, version = match.groups()
        return SchemaKey(vendor, name, format, SchemaVer.parse(version))

    @property
    def family(self) -> Family:
        return Family(self.vendor, self.name, self.format, self.version.model)

    def with_version(self, version: SchemaVer) -> SchemaKey:
        return replace(self, version=version)

    def __str__(self) -> str:
        return f"iglu:{self.vendor}/{self.name}/{self.format}/{self.version}"


@dataclass(frozen=True)
class Criterion:
    """Schemas of a name whose versions have these parts; None is any number."""

    vendor: str
    name: str
    format: str
    model: int | None = None
    revision: int | None = None
    addition: int | None = None

    @staticmethod
    def parse(text: str) -> Criterion:
        """Raises IgluError."""
        match = _CRITERION.fullmatch(text)
        if match is None:
            raise IgluError(
                "INVALID_IGLUURI",
                f"{text!r} is not a criterion: expected iglu:VENDOR/NAME/FORMAT/1-*-*, each part of the "
                "version a number or *",
            )
        vendor, name, format, *parts = match.groups()
        return Criterion(vendor, name, format, *(None if part == "*" else int(part) for part in parts))

    def __str__(self) -> str:
        parts = (self.model, self.revision, self.addition)
        version = "-".join("*" if part is None else str(part) for part in parts)
        return f"iglu:{self.vendor}/{self.name}/{self.format}/{version}"

    def matches(self, key: SchemaKey) -> bool:
        """
        >>> criterion = Criterion.parse("iglu:com.acme/event/jsonschema/1-*-*")
        >>> criterion.matches(SchemaKey.parse("iglu:com.acme/event/jsonschema/1-4-2"))
        True
        """
        version = key.version
        return (self.vendor, self.name, self.format) == (key.vendor, key.name, key.format) and all(
            part is None or part == number
            for part, number in (
                (self.model, version.model),
                (self.revision, version.revision),
                (self.addition, version.addition),
            )
        )
