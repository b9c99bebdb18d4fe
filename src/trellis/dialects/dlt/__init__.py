"""The default dialect: any JSON records become root and nested tables."""
