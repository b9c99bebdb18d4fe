"""Tables of Delta Lake and Iceberg, which commit one by one: what their destinations share."""
