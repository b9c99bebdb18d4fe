"""A server of schemas: what it stores, what it accepts, and its HTTP API and pages."""
