"""DefaultPreemption: which pods would have to go so that a pod finds room.

From a pod that no node takes, with every node's verdict, to the nodes on which evicting less important pods helps, and
which of them is best. All of this is a dry run over worlds; the loop evicts.
"""

from kubesched.core.plugins.default_preemption.plugin import DefaultPreemption

__all__ = ["DefaultPreemption"]
