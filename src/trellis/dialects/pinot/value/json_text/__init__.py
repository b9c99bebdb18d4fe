"""JSON text as Pinot reads, limits and writes it."""
