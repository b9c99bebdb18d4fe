"""Made-up events for `trellis generate`."""
