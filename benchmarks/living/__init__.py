"""A benchmark of a living cluster: pods start, fail, move and end while a scheduler works."""
