"""A Pinot cluster: its controller, and the delivery of what Trellis loaded."""
