"""The functions that are carried out, by theme, and the names of those that are not."""
