"""The data plane: blocks of records become Arrow batches of every table. Arrow moves the rows; no Spark here.

The same functions run in the driver for a small input and inside Spark tasks for a large one.
"""
