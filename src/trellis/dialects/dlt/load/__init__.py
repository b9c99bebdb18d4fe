"""What a load into these tables is: ids of rows, write dispositions, state and load records."""
