"""In: a plugin. Out: a report of what it does against the contract, each with a minimal example in words.
Never: knowledge of one plugin; the engine and the scheduler that run it in a cluster answer here, too.
"""
