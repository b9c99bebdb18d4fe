"""The rules of RudderStack for each warehouse: types, statements, policies of loading."""
