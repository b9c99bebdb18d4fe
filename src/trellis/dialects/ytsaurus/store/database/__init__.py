"""The database of a store: its connections, and the transactions and locks that are rows of it."""
