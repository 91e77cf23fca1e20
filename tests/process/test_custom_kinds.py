"""Out-of-tree plugins that wait for kinds of their own: defined on the server, followed by the scheduler."""

from pathlib import Path
from typing import Any

from tests.support.clusters import a_cluster_process
from tests.support.processes import eventually

from kubesched.testing.builders import a_node, a_pod

Document = dict[str, Any]

PLUGIN = """
from kubesched import Status
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.status import Code

seats = 0


class Licensed(FilterPlugin):
    name = "Licensed"

    def events_to_register(self):
        return [Registration(ClusterEvent("licenses.v1.example.com", Action.ADD | Action.UPDATE), self.look)]

    def look(self, pod, old, new):
        global seats
        seats = new.spec["seats"]
        return Hint.QUEUE if seats else Hint.QUEUE_SKIP

    def filter(self, cycle, pod, node):
        return None if seats else Status(Code.UNSCHEDULABLE, ("no licence",))
"""
DEFINITION: Document = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "licenses.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "licenses", "kind": "License"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"seats": {"type": "integer", "default": 0}}}
                        },
                    }
                },
            }
        ],
    },
}
# what every scheduler may read does not have kinds that somebody defines
ROLE: Document = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "licenses"},
    "rules": [{"apiGroups": ["example.com"], "resources": ["licenses"], "verbs": ["get", "list", "watch"]}],
}
BINDING: Document = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "licenses"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "licenses"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:kube-scheduler"}],
}
LICENSES = "/apis/example.com/v1/licenses"


def a_license(**spec: Any) -> Document:
    return {"apiVersion": "example.com/v1", "kind": "License", "metadata": {"name": "l"}, "spec": spec}


def test_a_pod_waits_for_an_object_of_a_kind_that_a_plugin_brings(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), DEFINITION, ROLE, BINDING]) as cluster:
        file = cluster.plugin("licensed", PLUGIN)
        profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Licensed"}]}}}
        with cluster.scheduler("--leader-elect=false", "--plugin", str(file), config={"profiles": [profile]}):
            cluster.api.create(a_pod("p", scheduler=cluster.scheduler_name))

            def reason() -> str:
                pod = cluster.api.get("Pod", "p") or {}
                conditions = pod.get("status", {}).get("conditions") or [{}]
                return str(conditions[0].get("message", ""))

            eventually(lambda: "no licence" in reason(), "the plugin rejects the pod")
            cluster.api.ok("POST", LICENSES, a_license())
            cluster.api.ok("PATCH", f"{LICENSES}/l", {"spec": {"seats": 1}}, form="application/merge-patch+json")
            eventually(lambda: (cluster.api.get("Pod", "p") or {})["spec"].get("nodeName"), "the pod is bound")


def test_a_scheduler_waits_for_a_kind_that_is_not_defined_yet(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), ROLE, BINDING]) as cluster:
        file = cluster.plugin("licensed", PLUGIN.replace("seats = 0", "seats = 1", 1))
        profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Licensed"}]}}}
        flags = ("--leader-elect=false", "--plugin", str(file))
        with cluster.scheduler(*flags, config={"profiles": [profile]}) as scheduler:
            cluster.api.create(a_pod("p", scheduler=cluster.scheduler_name))
            scheduler.says(f"nothing is scheduled until the API server serves {LICENSES} (needed by Licensed)")
            cluster.api.create(DEFINITION)
            eventually(lambda: (cluster.api.get("Pod", "p") or {})["spec"].get("nodeName"), "the pod is bound")
