"""Traces: from files of any format, and from generators, to events in the order of their times."""
