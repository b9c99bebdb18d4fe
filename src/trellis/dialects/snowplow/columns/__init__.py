"""Schemas as columns: names, types, one table for all versions of a family."""
