"""Files: a scenario to save and open, and exports of the cluster for other tools.

From a scenario or a cluster to bytes, and from a file to a scenario.
"""
