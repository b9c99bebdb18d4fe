"""Whether the values of one schema fit another: always, perhaps, or never."""
