"""The row: the steps of the ingestion pipeline in the order of Pinot."""
