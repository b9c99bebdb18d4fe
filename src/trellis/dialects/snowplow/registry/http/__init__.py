"""The registry over HTTP: Iglu's API, and pages for people."""
