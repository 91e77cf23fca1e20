"""For the tests of kubesched and of plugin authors: builders of objects and clusters.

Comes in: the few arguments that matter to a test. Goes out: API structs and a `ClusterState`. Nothing else in kubesched
imports this package.
"""

from kubesched.testing.builders import (
    a_budget,
    a_cluster,
    a_container,
    a_custom_object,
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
from kubesched.testing.storage import (
    a_claim,
    a_csi_driver,
    a_csi_node,
    a_storage_class,
    a_storage_pool,
    a_volume,
    an_attachment,
    an_ephemeral_volume,
)

__all__ = [
    "a_budget",
    "a_claim",
    "a_cluster",
    "a_container",
    "a_csi_driver",
    "a_csi_node",
    "a_custom_object",
    "a_namespace",
    "a_node",
    "a_pod",
    "a_replica_set",
    "a_selector",
    "a_service",
    "a_spread",
    "a_storage_class",
    "a_storage_pool",
    "a_term",
    "a_volume",
    "an_affinity",
    "an_attachment",
    "an_ephemeral_volume",
]
