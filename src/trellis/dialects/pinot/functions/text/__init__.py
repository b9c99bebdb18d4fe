"""Functions on text and patterns."""
