"""Functions on instants: fields, units, formats."""
