"""Date-time formats, granularities, time zones and timestamps, as Pinot and Joda read and write them."""
