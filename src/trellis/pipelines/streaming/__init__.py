"""Streams: micro-batches of files, topics and tables, each one load."""
