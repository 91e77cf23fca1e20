"""For the tests of kubesched and of plugin authors: builders of objects and clusters, checks and fixtures.

Comes in: the few arguments that matter to a test. Goes out: API structs, a `ClusterState`, reports about plugins.
Nothing else in kubesched imports this package. Names are imported when they are first used, since pytest loads the
fixtures (`pytest_plugin`) in every run, whatever it tests.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from kubesched.testing.plugin_checks.checking import check_plugin
    from kubesched.testing.plugin_checks.plugin_report import CheckResult, PluginReport
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

_HOMES = {
    "builders": (
        "a_budget a_cluster a_container a_custom_object a_namespace a_node a_pod "
        "a_replica_set a_selector a_service a_spread a_term an_affinity"
    ),
    "plugin_checks.checking": "check_plugin",
    "plugin_checks.plugin_report": "CheckResult PluginReport",
    "storage": (
        "a_claim a_csi_driver a_csi_node a_storage_class a_storage_pool a_volume an_attachment an_ephemeral_volume"
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "CheckResult",
    "PluginReport",
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
]


def __getattr__(name: str) -> Any:
    """Return a public name, importing its home now."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'kubesched.testing' has no attribute {name!r}")
    value = getattr(import_module(f"kubesched.testing.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
