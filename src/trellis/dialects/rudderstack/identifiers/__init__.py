"""The names of tables and columns (spec rudderstack.md, section 2)."""
