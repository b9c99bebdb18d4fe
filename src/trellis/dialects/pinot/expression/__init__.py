"""Transform and filter functions: the grammar, the function set, the order of evaluation."""
