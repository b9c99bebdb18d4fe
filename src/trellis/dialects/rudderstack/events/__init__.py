"""Events become rows: one type of event after the other."""
