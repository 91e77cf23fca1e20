"""`explain`: pending pods, one pod, one node; and remedies that are proven."""
