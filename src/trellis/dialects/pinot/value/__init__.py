"""Values: their source kinds, their conversion to a column, and what Pinot changes about them."""
