"""Registries as their readers have them: folders, URLs, stores, and several of them behind a resolver."""
