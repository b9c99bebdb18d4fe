"""Numbers as Java parses, rounds and formats them."""
