"""A source value as a value of its column, and what Pinot changes about it."""
