"""NodeResourcesFit and NodeResourcesBalancedAllocation: what pods request against what nodes have.

| module | what it does |
|---|---|
| `fit`, `balanced_allocation` | the plugins: hooks, and what the others below do for each |
| `fit_request` | what a pod requests, and the rule of the filter for one node (upstream's fitsRequest) |
| `fit_columns` | the same rule over columns: all nodes at once, and worlds |
| `fit_hints` | which events can help a pod that did not fit |
| `scoring` | what would be used of each resource, and the strategies that score it |
| `balance` | how even the use of a node's resources is |
| `device_capacity` | capacity of extended resources that devices stand for |
"""

from kubesched.core.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation
from kubesched.core.plugins.node_resources.fit import NodeResourcesFit

__all__ = ["NodeResourcesBalancedAllocation", "NodeResourcesFit"]
