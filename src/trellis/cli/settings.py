"""What was asked on the command line and in trellis.yaml, as a pipeline and its options."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from trellis.cli.output.console import ProgressCallback, aside
from trellis.cli.schema_files import read_schema
from trellis.destinations import DEFAULT_DESTINATION
from trellis.destinations.url import split_naming
from trellis.dialects import DEFAULT_DIALECT, get_dialect, registration_of
from trellis.dialects.documents import get_naming
from trellis.errors import SchemaError, UsageError, nearest
from trellis.evolution.contract import MODES as CONTRACTS
from trellis.evolution.contract import expand
from trellis.pipelines.config import Config, read_text
from trellis.pipelines.engine import Engine
from trellis.pipelines.loading.options import LoadOptions
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report
from trellis.schema.documents.validate import name_fault
from trellis.schema.documents.yaml_text import read
from trellis.schema.model import Schema


@dataclass
class LoadCommand:
    """One load or plan, ready to run."""

    pipeline: Pipeline
    options: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(config: Config) -> LoadCommand:
        """Check everything that can be checked before any data is read. Raises UsageError, SchemaError."""
        options: dict[str, Any] = {
            "table": config.table,
            "mode": config.mode,
            "strategy": config.strategy,
            "keys": config.keys,
            "merge_keys": config.merge_keys,
            "rules": config.rules,
            "contract": contract_of(config.contract),
            "schema": schema_of(config.schema, config.dialect or DEFAULT_DIALECT),
            "max_nesting": _whole("max_nesting", config.options.get("max_nesting")),
            "max_rejected": config.max_rejected,
            "payload": config.payload,
            "format": config.format,
            "read_options": config.read_options,
            "kafka_columns": config.kafka_columns,
        }
        return LoadCommand(open_pipeline(config), options)

    def run(
        self,
        sources: Sequence[str],
        options: LoadOptions,
        dry_run: bool,
        tell: ProgressCallback,
    ) -> Report:
        self.pipeline.tell = tell
        do = self.pipeline.plan if dry_run else self.pipeline.load
        return do(list(sources), **{**self.options, **options})


def open_pipeline(config: Config) -> Pipeline:
    """The pipeline that the settings name. Raises UsageError."""
    to = config.to or DEFAULT_DESTINATION
    known = get_dialect(config.dialect or DEFAULT_DIALECT).capabilities.options
    for name in config.options:
        if name not in known:
            raise UsageError(f"there is no option {name!r}{nearest(name, known)}")
    settings = {name: value for name, value in config.options.items() if name != "max_nesting"}
    if "naming" in settings:
        get_naming(str(settings["naming"]))
    if "" not in sys.path:
        sys.path.append("")  # what options name, such as a normalizer, may be in the folder one is in
    if config.name is not None and (fault := name_fault(config.name)):
        raise UsageError(f"--name: {fault}")
    return Pipeline(
        config.name or name_of(to),
        to,
        config.dataset or "",
        config.dialect or DEFAULT_DIALECT,
        config.master,
        config.remote,
        cast("Engine | None", config.engine),
        settings=settings,
        staging=config.staging,
        tell=aside(),
    )


def name_of(to: str) -> str:
    """The name of a schema, after the destination it is in.

    >>> name_of("duckdb:data/my-shop.v2.duckdb"), name_of("parquet:lake/2024/"), name_of("duckdb:/")
    ('my_shop_v2', '_2024', 'trellis')
    >>> name_of("duckdb:shop.duckdb?naming_convention=direct")
    'shop'
    >>> name_of("postgresql://me:secret@host/shop?sslmode=disable"), name_of("postgresql://me:secret@host")
    ('shop', 'trellis')
    """
    place, _ = split_naming(to)
    where = urlsplit(place)
    path = where.path if where.netloc else place.partition(":")[2]
    last = Path(path.rstrip("/")).name
    stem = re.sub(r"\.(duckdb|db|ddb)$", "", last)
    name = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_")[:60] or "trellis"
    return f"_{name}" if name[0].isdigit() else name


def contract_of(value: str | Mapping[str, str] | None) -> str | Mapping[str, str] | None:
    """A contract from a word, `columns=freeze,...`, a YAML file or a mapping. Raises TrellisError."""
    if value is None:
        return None
    where = "--contract"
    contract: Any = value
    if isinstance(value, str) and value not in CONTRACTS:
        if "=" in value:
            contract = dict(_pair(pair) for pair in value.split(","))
        elif Path(value).is_file():
            where = value
            contract, _ = read(read_text(Path(value)), value)
        elif "." in value or "/" in value:
            raise UsageError(
                f"--contract {value}: no such file; a contract is one of {', '.join(CONTRACTS)}, or a file"
            )
        else:
            raise UsageError(f"--contract {value!r} is neither a mode nor a file{nearest(value, CONTRACTS)}")
    try:
        expand(contract)
    except SchemaError as bad:
        raise SchemaError(f"{where}: {str(bad).removeprefix('schema_contract: ')}") from None
    return cast("str | Mapping[str, str]", contract)


def schema_of(path: str | None, dialect: str) -> Schema | str | None:
    """What a user says of schemas: the schema of a file, or the place of a registry.

    Raises UsageError, SchemaError with file and line.
    """
    if path is None or registration_of(dialect).open_registry is not None:
        return path
    return document_of(path, dialect)


def document_of(path: str, dialect: str) -> Schema:
    """The schema of a file: of the dialect's original, if it has documents of its own, or of any format.

    Raises UsageError, SchemaError with file and line.
    """
    schema = get_dialect(dialect).schemas.parse_document(read_text(Path(path)), path)
    return read_schema(path).schema if schema is None else schema


def _pair(text: str) -> tuple[str, str]:
    entity, equals, mode = (part.strip() for part in text.partition("="))
    if not equals:
        raise UsageError(f"--contract {text!r}: write ENTITY=MODE, for example columns=freeze")
    return entity, mode


def _whole(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"\d{1,6}", str(value)):
        raise UsageError(f"option {name} takes a whole number, 0 or more, not {str(value)!r}")
    return int(value)
