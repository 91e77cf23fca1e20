"""In: pods and node columns. Out: verdicts and scores of the in-tree plugins, each under its upstream name.
Never: an import of another plugin, I/O, or a change of the table other than through the cluster.
One module per plugin, a folder where it is large.
"""
