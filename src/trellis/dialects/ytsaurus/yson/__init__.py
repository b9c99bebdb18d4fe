"""YSON: values, and their text and binary forms."""
