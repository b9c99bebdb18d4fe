"""Schemas from data: as Pinot infers them from one record, and from all records."""
