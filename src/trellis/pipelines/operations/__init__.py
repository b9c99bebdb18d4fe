"""Loads as operators see them: hooks, logs, lineage and metrics."""
