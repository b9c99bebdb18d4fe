"""Values: of which kind they come, what they become in a column, what Pinot changes about them."""
