"""What PySpark raises, as sentences."""

from __future__ import annotations

from pyspark import __version__

from trellis.engine.spark.failures import start_failure, statement_failure


def test_a_package_for_another_spark() -> None:
    failure = Exception("py4j: java.lang.NoSuchMethodError: 'void org.apache.spark.LogicalRDD.<init>()'")
    assert str(statement_failure(failure, "delta:lake")) == (
        f"delta:lake: a package of the session is for another version of Spark than {__version__} "
        "(NoSuchMethodError); install the PySpark that the package is for"
    )


def test_the_sentence_of_a_condition_ends_where_its_cause_begins() -> None:
    failure = ValueError("[DELTA_ONLY_OPERATION] DESCRIBE HISTORY is only supported for Delta tables.")
    failure.__cause__ = OSError("An error occurred while calling o48.sql.")
    assert str(statement_failure(failure, "spark_catalog.shop")) == (
        "spark_catalog.shop: Spark refused: DESCRIBE HISTORY is only supported for Delta tables"
    )


def test_the_sentence_of_a_condition_has_neither_a_plan_nor_half_a_sentence() -> None:
    text = "[DELTA_PATH_DOES_NOT_EXIST] lake doesn't exist, or is not a Delta table.;\nResolvedTable lake, x"
    assert str(statement_failure(ValueError(text), "spark_catalog.shop")) == (
        "spark_catalog.shop: Spark refused: lake doesn't exist, or is not a Delta table"
    )
    text = f"[TABLE_OR_VIEW_NOT_FOUND] The table cannot be found. {'Verify. ' * 40} SQLSTATE: 42P01; line 1"
    sentence = str(statement_failure(ValueError(text), "spark_catalog.shop"))
    assert sentence.startswith("spark_catalog.shop: Spark refused: The table cannot be found. Verify. ")
    assert sentence.endswith("Verify")


def test_packages_that_may_be_why_spark_did_not_start() -> None:
    failure = Exception("Java gateway process exited")
    assert str(start_failure(failure, "local mode", "io.delta:delta-spark_4.1_2.13:4.4.0")) == (
        "Spark did not start at local mode: Exception: Java gateway process exited; check that the packages "
        "io.delta:delta-spark_4.1_2.13:4.4.0 can be fetched, the address, and that Java 17 or 21 is installed"
    )
