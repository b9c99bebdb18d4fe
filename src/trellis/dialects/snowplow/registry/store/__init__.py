"""What a registry stores: schemas in the order of their creation, drafts, permissions."""
