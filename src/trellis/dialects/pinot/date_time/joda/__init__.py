"""Joda-Time patterns: parsing them, reading and writing texts by them."""
