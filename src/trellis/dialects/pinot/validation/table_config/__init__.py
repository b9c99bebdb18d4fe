"""The rules by which Pinot 1.5.1 refuses a table config (`TableConfigUtils.validate`), one function each."""
