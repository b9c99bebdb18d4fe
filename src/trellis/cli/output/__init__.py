"""What commands print: the console, and reports for a person."""
