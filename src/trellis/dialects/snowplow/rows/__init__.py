"""Values as the lines of a table's file."""
