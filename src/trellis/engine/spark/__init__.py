"""The only package that imports pyspark: it starts sessions, spreads tasks, takes DataFrames apart."""
