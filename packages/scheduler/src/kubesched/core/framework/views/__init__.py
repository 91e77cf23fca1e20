"""Views of the cluster that plugins read: nodes, pods, and columns of values that follow changes."""
