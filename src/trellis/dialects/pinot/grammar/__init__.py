"""The grammar of transform and filter functions."""
