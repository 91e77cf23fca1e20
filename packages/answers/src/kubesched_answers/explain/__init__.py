"""`explain`: pending pods, one pod, one node; and proven remedies."""
