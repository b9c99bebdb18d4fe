"""What is wrong with a schema, and what is unwise about it."""
