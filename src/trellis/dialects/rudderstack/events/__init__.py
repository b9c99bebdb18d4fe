"""Events become rows: one type of event after the other (spec rudderstack.md, sections 3 to 5)."""
