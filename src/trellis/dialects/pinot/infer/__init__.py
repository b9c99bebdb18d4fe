"""Schemas proposed from the rows of files, or from what Trellis loaded."""
