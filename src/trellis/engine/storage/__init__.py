"""Files of every file system: local paths and object stores, listed, read and written in one way."""
