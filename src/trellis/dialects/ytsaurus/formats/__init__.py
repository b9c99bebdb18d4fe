"""Formats of rows: bytes to rows and back."""
