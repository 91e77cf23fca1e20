"""In: a pod, a compiled profile and the cluster's table. Out: verdicts, scores and what-if answers for every node.
Never: a change of the table, a choice between equally good nodes, or work for rows that did not change.
Columns belong to questions (plugin, key); a class of pods is the tuple of its questions with combined columns.
"""
