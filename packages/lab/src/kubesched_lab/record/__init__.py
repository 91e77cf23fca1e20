"""Recordings: the events of a live cluster, written into a trace file."""
