"""Paths into JSON values, as Jayway's library reads them for Pinot (spec pinot.md, section 5)."""
