"""Paths into JSON values, as Jayway's library reads them for Pinot."""
