"""The function library of Pinot by theme, and the names of functions that are not implemented."""
