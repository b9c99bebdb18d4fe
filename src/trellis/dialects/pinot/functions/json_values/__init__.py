"""Functions on JSON, and the JSON paths of Jayway that they take."""
