"""Example plugins: filters and scores, as functions and classes, for one node and over columns."""
