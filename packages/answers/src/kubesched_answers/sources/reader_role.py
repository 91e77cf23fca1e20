"""The rights that answers need.

From the kinds that are read from live clusters to a ClusterRole: list, and watch for commands that follow a cluster.
"""

from typing import Any, Final

from kubesched.api.paths import plural_of
from kubesched.sources.live import listed_kinds

NAME: Final = "kubesched-reader"
_VERBS: Final = ("get", "list", "watch")


def reader_role() -> dict[str, Any]:
    """Return a ClusterRole to read the objects that scheduling depends on."""
    resources: dict[str, list[str]] = {}
    for kind in listed_kinds():
        resources.setdefault(kind.api_version.rpartition("/")[0], []).append(plural_of(kind.name))
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": [
            {"apiGroups": [group], "resources": names, "verbs": list(_VERBS)} for group, names in resources.items()
        ],
    }
