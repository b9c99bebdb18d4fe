"""What a plan shows: the statements that a warehouse would get."""
