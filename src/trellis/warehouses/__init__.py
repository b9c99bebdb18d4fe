"""What warehouses are: types, names, statements, the cost of a change. Data and text; no I/O."""
