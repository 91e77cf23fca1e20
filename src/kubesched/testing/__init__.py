"""For the tests of kubesched and of plugin authors: builders of objects and clusters.

Comes in: the few words that matter to a test. Goes out: API structs and a `Cluster`. Nothing in the package imports
this room.
"""

from kubesched.testing.builders import (
    a_budget,
    a_cluster,
    a_container,
    a_namespace,
    a_node,
    a_pod,
    a_replica_set,
    a_selector,
    a_service,
    a_spread,
    a_term,
    an_affinity,
)

__all__ = [
    "a_budget",
    "a_cluster",
    "a_container",
    "a_namespace",
    "a_node",
    "a_pod",
    "a_replica_set",
    "a_selector",
    "a_service",
    "a_spread",
    "a_term",
    "an_affinity",
]
