"""The lines of enriched events."""
