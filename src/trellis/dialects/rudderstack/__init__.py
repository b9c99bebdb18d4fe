"""Events of RudderStack become the tables of its warehouse schema (spec rudderstack.md)."""
