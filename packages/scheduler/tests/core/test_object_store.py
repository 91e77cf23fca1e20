"""Effects have the same outcome in a store in memory as on an API server."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject
from kubesched.api.pods import PodStatus
from kubesched.client.effects import ApiEffects
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster_effects import ClusterEffects, run
from kubesched.core.framework.values.effects import Bind, Delete, Effect, EffectError, Effects, Patch, Read, Write
from kubesched.testing import a_namespace, a_node
from kubesched.testing.devices import a_device_request, a_resource_claim
from kubesched_answers.whatif.running.in_process import InProcessRest, NoEvents
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.server.server import ApiServer

replace = msgspec.structs.replace
CLAIM, FREE = (a_resource_claim(name, a_device_request()) for name in ("c", "held"))
HELD = replace(FREE, metadata=replace(FREE.metadata, finalizers=("example.com/f",)))
OBJECTS = [a_namespace("default"), a_node("n"), CLAIM, HELD]
Created = Mapping[str, ApiObject]
Made = Callable[[Created], Effect]
UNGUARDED = {"metadata": {"annotations": {"a": "b"}}}


def a_pod_document(name: str, **spec: Any) -> ApiObject:
    containers = [{"name": "c", "image": "i"}]
    meta = {"name": name, "namespace": "default"}
    return decode({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": containers, **spec}})


POD = a_pod_document("p")


def versioned(created: Created, name: str) -> Any:
    meta = created[name].metadata
    return {"uid": meta.uid, "resourceVersion": meta.resource_version}


def unguarded(obj: ApiObject) -> ApiObject:
    return replace(obj, metadata=replace(obj.metadata, resource_version=""))


def claim_patch(body: dict[str, Any], name: str = "c") -> Patch:
    return Patch("ResourceClaim", "default", name, body)


def outcomes(effects: Effects, made: list[Made]) -> list[Any]:
    """Return what effects on new objects return or raise, without what differs between clusters."""
    created: dict[str, ApiObject] = {}
    for obj in (*OBJECTS, POD, a_pod_document("gated", schedulingGates=[{"name": "g"}])):
        written = run(effects.perform(Write(obj, create=True)))
        assert written is not None
        created[written.name] = written
    found: list[Any] = []
    for each in made:
        try:
            written = run(effects.perform(each(created)))
        except EffectError as refused:
            found.append((type(refused).__name__, refused.final))
        else:
            meta = written.metadata if written is not None else None
            found.append(meta and (meta.annotations, meta.finalizers, meta.deletion_timestamp is not None))
            if written is not None:
                found.append(getattr(getattr(written, "status", None), "phase", None))
    return found


STORIES: dict[str, list[Made]] = {
    "a pod is bound once": [lambda of: Bind("default", "p", of["p"].uid, "n")] * 2,
    "a gated pod is not bound": [lambda of: Bind("default", "gated", of["gated"].uid, "n")],
    "a pod that was created again is not bound": [lambda of: Bind("default", "p", "other", "n")],
    "a missing pod is not bound": [lambda of: Bind("default", "gone", "u", "n")],
    "a patch of a missing object": [lambda of: claim_patch({}, "gone")],
    "a patch of an object that was created again": [lambda of: claim_patch({"metadata": {"uid": "other"}})],
    "a patch of an old version": [
        lambda of: claim_patch({"metadata": {**versioned(of, "c"), **UNGUARDED["metadata"]}}),
        lambda of: claim_patch({"metadata": versioned(of, "c")}),
        lambda of: claim_patch(UNGUARDED),
    ],
    "a write of an old version": [
        lambda of: Write(of["c"], base=of["c"]),
        lambda of: claim_patch(UNGUARDED),
        lambda of: Write(of["c"], base=of["c"]),
    ],
    "a write of a missing object": [lambda of: Write(a_resource_claim("gone"))],
    "a name is in use": [lambda of: Write(CLAIM, create=True)],
    "a missing object is read": [lambda of: Read("Node", "", "gone"), lambda of: Read("Pod", "default", "gone")],
    "an object without namespace is read": [lambda of: Read("Node", "", "n")],
    "a missing object is deleted": [lambda of: Delete("Node", "", "gone", "u")],
    "an object that was created again is not deleted": [lambda of: Delete("Pod", "default", "p", "other")],
    "an object with a finalizer is deleted": [
        lambda of: Delete("ResourceClaim", "default", "held", of["held"].uid),
        lambda of: Read("ResourceClaim", "default", "held"),
        lambda of: claim_patch({"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/f"]}}, "held"),
        lambda of: Read("ResourceClaim", "default", "held"),
    ],
    "a status is written by its subresource": [
        lambda of: Patch("Pod", "default", "p", {"status": {"phase": "Running"}}, "status"),
        lambda of: Write(replace(of["p"], status=PodStatus(phase="Failed")), base=unguarded(of["p"])),
        lambda of: Patch("Pod", "default", "p", {"status": {"nominatedNodeName": "n"}}, "status"),
    ],
}


@pytest.mark.parametrize("story", STORIES)
def test_a_store_in_memory_answers_as_an_api_server(story: str) -> None:
    server = ApiEffects(InProcessRest(ApiServer(access=always_allow)), NoEvents())
    assert outcomes(ClusterEffects(ClusterState()), STORIES[story]) == outcomes(server, STORIES[story])
