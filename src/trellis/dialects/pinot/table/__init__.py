"""The table config: what of it shapes the rows, and the configs and job specs that a cluster needs."""
