"""Incremental cursors: what a load has read, and where the next one begins."""
