"""The rules of a schema and its table configs: every fault and every lint at once."""
