"""For the tests of kubesched and of plugin authors: builders of objects and clusters, checks and fixtures.

In: the few arguments that matter to a test. Out: API structs, a `ClusterState`, a scheduler and a cluster in virtual
time, reports about plugins. No other room of kubesched imports this package. Names are imported when they are first
used, since pytest loads the fixtures (`pytest_plugin`) in every run.
"""

from typing import TYPE_CHECKING

from kubesched.common.lazy_names import lazy_names

if TYPE_CHECKING:
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
    from kubesched.testing.deciding import Decider, EngineFactory
    from kubesched.testing.fake_http import FakeHttp
    from kubesched.testing.plugin_checks.checking import check_plugin
    from kubesched.testing.plugin_checks.plugin_report import CheckResult, PluginReport
    from kubesched.testing.pod_lookup import PodEvent
    from kubesched.testing.real_http import real_http
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
    from kubesched.testing.virtual_scheduler import SchedulerFactory, VirtualScheduler
    from kubesched_controlplane.testing.cluster_process import ClusterProcess
    from kubesched_controlplane.testing.embedded_cluster import ClusterFactory, EmbeddedCluster

_HOMES = {
    "builders": (
        "a_budget a_cluster a_container a_custom_object a_namespace a_node a_pod "
        "a_replica_set a_selector a_service a_spread a_term an_affinity"
    ),
    "deciding": "Decider EngineFactory",
    "fake_http": "FakeHttp",
    "plugin_checks.checking": "check_plugin",
    "plugin_checks.plugin_report": "CheckResult PluginReport",
    "pod_lookup": "PodEvent",
    "real_http": "real_http",
    "storage": (
        "a_claim a_csi_driver a_csi_node a_storage_class a_storage_pool a_volume an_attachment an_ephemeral_volume"
    ),
    "virtual_scheduler": "SchedulerFactory VirtualScheduler",
}
# of the control plane
_ELSEWHERE = {
    "kubesched_controlplane.testing.cluster_process": "ClusterProcess",
    "kubesched_controlplane.testing.embedded_cluster": "ClusterFactory EmbeddedCluster",
}
if not TYPE_CHECKING:
    # a type checker that saw it would accept any name
    __getattr__ = lazy_names(__name__, _HOMES, _ELSEWHERE)

__all__ = [
    "CheckResult",
    "ClusterFactory",
    "ClusterProcess",
    "Decider",
    "EmbeddedCluster",
    "EngineFactory",
    "FakeHttp",
    "PluginReport",
    "PodEvent",
    "SchedulerFactory",
    "VirtualScheduler",
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
    "check_plugin",
    "real_http",
]


def __dir__() -> list[str]:
    return __all__
