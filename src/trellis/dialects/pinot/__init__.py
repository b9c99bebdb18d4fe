"""Apache Pinot's schema: the user brings it, and rows come out as Pinot would store them."""
