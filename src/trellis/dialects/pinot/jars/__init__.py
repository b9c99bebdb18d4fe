"""Pinot's own classes, where a user brings their jars: functions, checks of table configs, segments."""
