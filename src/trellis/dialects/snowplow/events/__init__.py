"""Events with the entities that they hold."""
