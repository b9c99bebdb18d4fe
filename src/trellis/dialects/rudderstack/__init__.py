"""RudderStack's warehouse schema: events become `tracks`, `identifies`, `users`, a table per event."""
