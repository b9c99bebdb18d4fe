"""Formats of rows that need the schema of the table, and the rows of tables in any format."""
