"""What schemas are called: versions, keys, criteria."""
