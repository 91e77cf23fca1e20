"""In: a plugin. Out: a report about its behaviour against the contract, each finding with a minimal example in
words. Never: knowledge of one plugin; the checks run on the engine and the scheduler of a cluster.
"""
