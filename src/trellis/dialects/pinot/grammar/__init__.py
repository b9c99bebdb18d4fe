"""The grammar of transform and filter functions: text to tree and back."""
