"""Rows of tables written anew: what merges, sorts and erasures do with chunks that they cannot take over."""
