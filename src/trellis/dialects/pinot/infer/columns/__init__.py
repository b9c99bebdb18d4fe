"""The columns proposed for each path: type, role, format, name."""
