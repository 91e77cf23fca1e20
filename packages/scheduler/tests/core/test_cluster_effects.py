"""Effects on the cluster's own objects keep the rules of an API server."""

import msgspec
import pytest

from kubesched.api.devices import ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Pod
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster_effects import ClusterEffects, run
from kubesched.core.framework.services.waiting import NoWaits
from kubesched.core.framework.values.effects import Bind, ConflictError, Delete, Effect, EffectError, Emit, Patch, Write
from kubesched.testing import a_cluster, a_node, a_pod
from kubesched.testing.devices import a_resource_claim


def perform(cluster: ClusterState, effect: Effect) -> object:
    return run(ClusterEffects(cluster).perform(effect))


PODS = (
    a_pod("p"),
    a_pod("bound", node="n"),
    a_pod("gated", gates=["g"]),
    a_pod("going", terminating=True),
)


def claim_of(cluster: ClusterState, name: str = "default/claim") -> ResourceClaim:
    claim = cluster.claims.get(name)
    assert claim is not None
    return claim


def test_names_are_generated_and_never_twice() -> None:
    cluster = a_cluster()
    effects = ClusterEffects(cluster)
    unnamed = ResourceClaim(metadata=ObjectMeta(namespace="default", generate_name="p-"))
    first, second = (run(effects.perform(Write(unnamed, create=True))) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.name, second.name) == ("p-0", "p-1")
    assert first.uid != second.uid
    assert cluster.claims.get("default/p-0") == first


def test_a_write_on_an_old_version_is_a_conflict() -> None:
    cluster = a_cluster(a_resource_claim())
    effects = ClusterEffects(cluster)
    old = run(effects.perform(Write(a_resource_claim())))
    assert old is not None
    run(effects.perform(Write(old)))
    with pytest.raises(ConflictError, match="the object has been modified"):
        run(effects.perform(Write(old)))


def test_status_and_the_rest_are_written_apart() -> None:
    cluster = a_cluster(a_resource_claim())
    status = ResourceClaimStatus(reserved_for=(ResourceClaimConsumerReference(uid="u"),))
    changed = msgspec.structs.replace(
        a_resource_claim(),
        status=status,
        metadata=msgspec.structs.replace(a_resource_claim().metadata, finalizers=("f",)),
    )
    perform(cluster, Write(changed, subresource="status"))
    assert claim_of(cluster).status == status
    assert claim_of(cluster).metadata.finalizers == ()
    cluster = a_cluster(a_resource_claim())
    perform(cluster, Write(changed))
    assert claim_of(cluster).status == ResourceClaimStatus()
    assert claim_of(cluster).metadata.finalizers == ("f",)


def test_what_has_a_finalizer_is_only_marked_when_it_is_deleted() -> None:
    claim = a_resource_claim()
    held = msgspec.structs.replace(claim, metadata=msgspec.structs.replace(claim.metadata, finalizers=("f",)))
    cluster = a_cluster(held)
    delete = Delete("ResourceClaim", "default", "claim", claim.uid)
    perform(cluster, delete)
    assert claim_of(cluster).metadata.deletion_timestamp is not None
    body = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["f"]}}
    perform(cluster, Patch("ResourceClaim", "default", "claim", body))
    assert cluster.claims.get("default/claim") is None


@pytest.mark.parametrize(
    ("effect", "problem"),
    [
        (Delete("ResourceClaim", "default", "claim", "other"), 'resourceclaims "claim" with the UID other not found'),
        (Bind("default", "p", "other", "n"), "UID in precondition: other"),
        (Bind("default", "gone", "u", "n"), 'pods "gone" not found'),
        (Patch("ResourceClaim", "default", "claim", {"metadata": {"uid": "other"}}), "field is immutable"),
        (
            Patch("ResourceClaim", "default", "claim", {"metadata": {"resourceVersion": "7"}}),
            "the object has been modified",
        ),
        (Write(a_resource_claim(), create=True), 'resourceclaims "claim" already exists'),
        (Delete("Node", "", "gone", "u"), 'nodes "gone" not found'),
        (Bind("default", "bound", "default-bound", "m"), 'already assigned to node "n"'),
        (Bind("default", "gated", "default-gated", "n"), "non-empty .spec.schedulingGates"),
        (Bind("default", "going", "default-going", "n"), "is being deleted"),
    ],
)
def test_refusals(effect: Effect, problem: str) -> None:
    with pytest.raises(EffectError, match=problem):
        perform(a_cluster(a_node("n"), a_resource_claim(), *PODS), effect)


def test_pods_are_bound_and_patched_wherever_they_are() -> None:
    cluster = a_cluster(a_node("n"), a_pod("p"))
    perform(cluster, Bind("default", "p", "default-p", "n"))
    assert [pod.name for pod in cluster.table.pods.values()] == ["p"]
    patched = perform(cluster, Patch("Pod", "default", "p", {"status": {"phase": "Running"}}, "status"))
    assert isinstance(patched, Pod)
    assert cluster.table.pods["default-p"].status.phase == "Running"


def test_submitting_stops_at_the_first_refusal() -> None:
    cluster = a_cluster(a_resource_claim())
    effects = ClusterEffects(cluster)
    gone = Delete("ResourceClaim", "default", "gone", "u")
    delete = Delete("ResourceClaim", "default", "claim", "default/claim")
    effects.submit(Emit(a_pod("p"), "Normal", "R", "A", "n"), gone, delete)
    assert cluster.claims.get("default/claim") is not None
    assert effects.performed[-1] == gone
    effects.submit(delete)
    assert cluster.claims.get("default/claim") is None


def test_a_coroutine_that_really_waits_cannot_be_run_without_a_loop() -> None:
    class Forever:
        def __await__(self):  # type: ignore[no-untyped-def]
            yield

    async def waits() -> None:
        await Forever()

    with pytest.raises(RuntimeError, match="waits for something"):
        run(waits())
    assert run(NoWaits().until(lambda: 7, (), 1.0)) == 7
