"""Schemas from data: as Pinot infers them from one record, and better, from all of them (section 10)."""
