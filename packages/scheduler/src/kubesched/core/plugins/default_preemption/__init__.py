"""DefaultPreemption: the victims to evict so that an unschedulable pod fits.

From a pod without a feasible node, with every node's verdict, to the candidate nodes on which evicting less important
pods helps, and the best of them. All of this is a dry run over worlds; the loop evicts.
"""

from kubesched.core.plugins.default_preemption.plugin import DefaultPreemption

__all__ = ["DefaultPreemption"]
