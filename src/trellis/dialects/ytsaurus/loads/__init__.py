"""Loads of records into tables: which table, under which schema, and how a record becomes its row."""
