"""Tables of a destination, read back."""
