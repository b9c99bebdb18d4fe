"""A source value as a value of its column: the step per pair of source kind and column type."""
