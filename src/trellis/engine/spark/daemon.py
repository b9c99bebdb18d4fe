"""The process that Spark forks its Python workers from, in local mode: what every task needs is imported
here once instead of in each worker. `spark.python.daemon.module` names it."""

from __future__ import annotations

import contextlib

from pyspark.daemon import manager

import trellis.engine.spark.job  # noqa: F401

with contextlib.suppress(ImportError):
    import pandas  # noqa: F401  PyArrow imports it with the first list that becomes an array

if __name__ == "__main__":
    manager()  # type: ignore[no-untyped-call]
