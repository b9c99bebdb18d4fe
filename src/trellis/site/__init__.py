"""A dataset as a folder of HTML pages: tables, an ERD, the history, what was left out. No scripts."""
