"""Records: what happens on a live cluster, written into a trace file."""
