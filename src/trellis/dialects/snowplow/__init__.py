"""The Snowplow dialect: schemas of an Iglu registry, whose order of versions is the order of columns."""
