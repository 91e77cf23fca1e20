"""Recordings: from what is reported of a cluster to lines with times, and from those to events."""
