"""The versions of a schema: which may follow, in which order they count, which replace others."""
