"""What NodeResourcesFit and NodeResourcesBalancedAllocation are made of: requests, objections, worlds, scores, hints.

Comes in: pods and columns of the table. Goes out: plain numbers and verdicts; nothing here is a plugin.
"""
