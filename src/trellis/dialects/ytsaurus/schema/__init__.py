"""Schemas of tables: values, their documents, their rules."""
