"""Reading a source: its resources as pages of items, and these as the rows of tables."""
