"""Types of columns: values, and their documents `type`, `required` and `type_v3`."""
