"""A store as the destination of loads."""
