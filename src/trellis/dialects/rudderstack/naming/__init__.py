"""What tables and columns are called (spec rudderstack.md, section 2)."""
