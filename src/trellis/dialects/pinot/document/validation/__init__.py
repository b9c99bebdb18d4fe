"""The rules of a schema document: every fault and every lint at once."""
