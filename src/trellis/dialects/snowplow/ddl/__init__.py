"""Tables and their changes as statements."""
