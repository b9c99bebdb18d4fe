"""What is declared of the tables of a resource: columns, keys, write disposition, contract."""
