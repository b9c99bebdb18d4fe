"""Rich paths: a table with columns, ranges of rows and attributes."""
