"""Warehouses as the loader of runs talks to them."""
