"""What RudderStack does with each warehouse: types, statements, policies of loading."""
