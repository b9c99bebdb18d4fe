"""Values of columns: their order, and whether they fit their types."""
