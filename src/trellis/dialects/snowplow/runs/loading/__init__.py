"""Shredded runs into a warehouse: loading, verifying, replaying, archiving."""
