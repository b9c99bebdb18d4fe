"""Normalizers of JSON: which one a schema follows, what it propagates, and those that users write."""
