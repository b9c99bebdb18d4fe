"""Tables in Spark, by the conventions of SPYT: `spark.read.yt(...)`, `df.write.yt(...)`, `format("yt")`."""
