"""NodeResourcesFit and NodeResourcesBalancedAllocation: requests of pods and allocatable resources of nodes.

| module | what it does |
|---|---|
| `fit`, `balanced_allocation` | the plugins and their hooks |
| `fit_request` | the request of a pod, and the rule of the filter for one node (upstream's fitsRequest) |
| `fit_columns` | the same rule over columns: all nodes at once, and worlds |
| `fit_hints` | the queueing hints for a pod that did not fit |
| `scoring` | the use of each resource with the pod, and the strategies that score it |
| `balance` | how balanced the use of a node's resources is |
| `device_capacity` | the capacity of extended resources that are backed by devices |
"""

from kubesched.core.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation
from kubesched.core.plugins.node_resources.fit import NodeResourcesFit

__all__ = ["NodeResourcesBalancedAllocation", "NodeResourcesFit"]
