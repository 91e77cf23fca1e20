"""Recordings: from reports about a cluster to lines with times, and from those to events."""
