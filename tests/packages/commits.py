"""A load that a destination refuses, and that is kept as a pipeline makes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import trellis
from trellis.dialects import DEFAULT_DIALECT
from trellis.errors import DestinationError
from trellis.pipelines.loading.runner import LoadRunner
from trellis.pipelines.packages import Package, Packages
from trellis.pipelines.pipeline import Pipeline
from trellis.pipelines.report import Report

Load = Callable[[Pipeline], Report]

DUCKDB, PARQUET = "duckdb:{}/shop.duckdb", "parquet:{}/lake"


def refuse(*_: Any) -> None:
    raise DestinationError("the disk is full")


def always_keeping(run: Callable[..., Report]) -> Callable[..., Report]:
    """`LoadRunner.run` that keeps what the destination refuses, whatever is asked."""
    return lambda *args, **options: run(*args, **{**options, "keeps": True})


@dataclass(frozen=True)
class Case:
    """A load of interest, after those that fill the tables first."""

    load: Load
    before: tuple[Load, ...] = ()
    dialect: str = DEFAULT_DIALECT
    settings: Mapping[str, Any] = field(default_factory=dict)
    to: str = DUCKDB

    def pipeline(self, folder: Path) -> Pipeline:
        return trellis.pipeline(
            "shop", self.to.format(folder), dialect=self.dialect, settings=dict(self.settings)
        )

    def filled(self, folder: Path) -> Pipeline:
        """A pipeline whose tables are as the load finds them."""
        pipeline = self.pipeline(folder)
        for load in self.before:
            load(pipeline)
        return pipeline

    def keep(self, folder: Path) -> Package:
        """The load is refused, and kept beside the destination."""
        pipeline, kept = self.filled(folder), list[Package]()
        pipeline.destination.commit = refuse  # type: ignore[method-assign]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LoadRunner, "run", always_keeping(LoadRunner.run))
            keep = Packages.keep
            patch.setattr(Packages, "keep", lambda self, package: (kept.append(package), keep(self, package)))
            with pytest.raises(DestinationError, match="the disk is full; the rows are kept"):
                self.load(pipeline)
        return kept[0]


def packages_of(pipeline: Pipeline) -> Packages:
    return pipeline.load_runner().packages


def assert_comes_back(case: Case, folder: Path) -> None:
    kept = case.keep(folder)
    package = packages_of(case.pipeline(folder)).oldest()
    assert package == kept
    assert in_order(package) == in_order(kept)


def in_order(value: Any) -> Any:
    """The value taken apart, with the order of all that has one, which `==` ignores in mappings."""
    if dataclasses.is_dataclass(value):
        members = [(field.name, in_order(getattr(value, field.name))) for field in dataclasses.fields(value)]
        return type(value), members
    if isinstance(value, Mapping):
        return [(key, in_order(member)) for key, member in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [*map(in_order, value)]
    return type(value), value
