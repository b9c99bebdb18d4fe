"""Transforms and filters: the grammar, the functions, the order of evaluation."""
