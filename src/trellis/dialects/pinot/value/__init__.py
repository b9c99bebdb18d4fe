"""Source values, and numbers and JSON as Java writes them."""
