"""Transforms and filters: compilation, order of evaluation."""
