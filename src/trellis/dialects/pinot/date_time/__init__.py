"""Date-time formats, granularities, time zones and timestamps, as Pinot and Joda-Time read and write them."""
