"""Transforms and filters: the grammar, the functions, the order of evaluation (spec pinot.md, section 5)."""
