"""The data plane: blocks of records become Arrow batches of every table. Arrow moves the rows; no Spark here.

The same functions run inside Spark tasks, and with the engine `inline` in the driver.
"""
