"""Transforms and filters: grammar, compilation, order of evaluation."""
