"""Spark alone: JSON lines with the schema given, to one Parquet table. What any load on Spark must cost."""

from __future__ import annotations

from time import perf_counter

STARTED = perf_counter()

from protocol import Loads, parser, sources, spark_schema  # noqa: E402


def main() -> None:
    options = parser(__doc__).parse_args()

    from trellis.engine.spark.session import get_session

    session = get_session()
    session.range(1).count()
    schema = spark_schema(options.profile, options.source)
    loads = Loads(STARTED)
    for number, source in enumerate(sources(options)):
        with loads:
            session.read.schema(schema).json(source).write.parquet(f"{options.folder}/{number}")
    loads.finish(session.read.parquet(f"{options.folder}/0").count())


if __name__ == "__main__":
    main()
