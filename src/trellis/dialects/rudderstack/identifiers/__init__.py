"""The names of tables and columns."""
