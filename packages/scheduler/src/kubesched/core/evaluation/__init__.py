"""Which nodes are feasible for a pod, and their scores.

From a pod, a compiled profile and the cluster's table to verdicts, scores and what-if answers for every node. No change
of the table, no choice between equally good nodes, and no work for rows that did not change. Columns belong to
questions (plugin, key); a class of pods is the tuple of its questions with combined columns.
"""
