"""The schema that an operation or a write leaves behind."""
