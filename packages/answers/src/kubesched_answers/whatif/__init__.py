"""`whatif`: drains, new nodes, other scales and configurations, tried on the model; and nodes that can be emptied."""
