"""The commands that ask about a cluster: explain, capacity, whatif, snapshot; their options and their output."""
