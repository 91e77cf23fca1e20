"""DefaultPreemption: which pods would have to go so that a pod finds room.

In: a pod that no node takes, with every node's verdict. Out: the nodes on which evicting less important pods helps, and
which of them is best. Never: an eviction; all of this is a dry run over worlds.
"""

from kubesched.core.plugins.default_preemption.plugin import DefaultPreemption

__all__ = ["DefaultPreemption"]
