"""Whether a new version is what its number declares: an addition, a revision or a model."""
