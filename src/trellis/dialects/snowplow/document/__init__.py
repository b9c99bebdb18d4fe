"""Schemas and data that describe themselves, and the JSON that they are written in."""
