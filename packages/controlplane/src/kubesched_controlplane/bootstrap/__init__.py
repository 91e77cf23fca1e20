"""The objects that every cluster begins with."""
