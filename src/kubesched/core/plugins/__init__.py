"""The in-tree plugins, each under its upstream name.

From pods and node columns to verdicts and scores. No import of another plugin, no I/O, and no change of the table other
than through the cluster. One module per plugin, a folder where it is large.
"""
