"""Controllers meet every object that the API server takes, odd as it may be, and go on."""

import asyncio
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.good_objects import GOOD, damaged, good
from tests.support.good_objects import path_of as good_path
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

Document = dict[str, Any]
WEBHOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
POD: Document = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "a",
        "labels": {"app": "web"},
        "annotations": {"kubesched.io/run-seconds": "1", "kubesched.io/exit-code": "1"},
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "u", "controller": True}
        ],
        "finalizers": ["example.com/hold"],
    },
    "spec": {
        "nodeName": "a",
        "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}],
        "initContainers": [{"name": "d", "image": "i", "restartPolicy": "Always"}],
        "readinessGates": [{"conditionType": "example.com/gate"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "a"}],
        "tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
        "volumes": [
            {"name": "v", "persistentVolumeClaim": {"claimName": "a"}},
            {
                "name": "w",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
                    }
                },
            },
        ],
    },
}


def path_of(kind: str, name: str = "") -> str:
    """Return the path of a kind, or of an object."""
    if kind in GOOD:
        return good_path(kind, name)
    return f"/api/v1/namespaces/default/pods/{name}" if name else "/api/v1/namespaces/default/pods"


@pytest.mark.parametrize("kind", [*GOOD, "Pod"])
def test_odd_objects_disturb_nobody(kind: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        for other in GOOD:
            # a webhook that nobody answers refuses what it is about
            if other not in WEBHOOKS:
                cluster.create(good(other))
        cluster.create(POD)
        await asyncio.sleep(1)
        asking = Asking(cluster.server)
        for number, document in enumerate(damaged(POD if kind == "Pod" else good(kind))):
            if isinstance(document.get("metadata"), dict) and document["metadata"].get("name") == "a":
                document["metadata"]["name"] = f"odd-{number}"
            code, answer = asking.ask("POST", path_of(kind), document)
            assert code in (201, 400, 403, 404, 409, 422), answer
        await asyncio.sleep(100)
        for name in cluster.names(kind):
            assert asking.ask("DELETE", path_of(kind, name))[0] in (200, 403, 404)
        await asyncio.sleep(100)

    in_simulated_cluster(story)
