"""The schema document: fields, types, reading and writing."""
