"""Two versions of a schema: what differs, whether it may be replaced, and in which steps."""
