"""What a survey of the rows learned about each path: values, texts, times, names."""
