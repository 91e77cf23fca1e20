"""DynamicResources: nodes judged by what they have in common are judged as each would be alone, and nothing that is
reserved and given back leaves a trace.
"""

from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubesched.api.devices import AllocationResult, Device, ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod, PodResourceClaim
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences, rebuilt
from kubesched.core.cluster_effects import ClusterEffects, run
from kubesched.core.framework.services.waiting import NoWaits
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.dynamic_resources import DynamicResources
from kubesched.testing import a_cluster, a_node, a_pod
from kubesched.testing.devices import (
    a_device,
    a_device_choice,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    an_alternative,
)

GPU = "example.com/gpu"
NODES = [f"n{i}" for i in range(4)]
ZONE = "topology.kubernetes.io/zone"

devices = st.builds(
    lambda i, numa, shared: a_device(f"d{i}", attributes={"numa": numa}, capacity={"m": "2"}, shared=shared),
    st.integers(0, 2),
    st.integers(0, 1),
    st.sampled_from([False, False, True]),
)
device_sets = st.lists(devices, max_size=3, unique_by=lambda device: device.name)
places: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [*({"node": name} for name in NODES), {"nodes": f"{ZONE}=a"}, {"all_nodes": True}]
)
nodes = st.builds(
    lambda name, zone, gpus: a_node(name, zone=zone, allocatable={GPU: gpus} if gpus else None),
    st.sampled_from(NODES),
    st.sampled_from("ab"),
    st.sampled_from(["", "", "2"]),
)
requests = st.one_of(
    st.builds(lambda name, count: a_device_request(name, count=count), st.just("r"), st.integers(1, 2)),
    st.builds(lambda name: a_device_request(name, all_devices=True), st.just("r")),
    st.builds(lambda: a_device_choice("r", an_alternative("a", count=2), an_alternative("b"))),
)
claims = st.builds(a_resource_claim, st.sampled_from(["c0", "c1", "c2"]), requests)


@st.composite
def slices(draw: st.DrawFn) -> ApiObject:
    number = draw(st.integers(0, 3))
    offered: list[Device] = draw(device_sets)
    return a_slice(f"s{number}", *offered, pool=f"p{number}", **draw(places))


changes = st.one_of(
    nodes, slices(), claims, st.sampled_from([a_device_class("gpu"), a_device_class("gpu", extended_resource=GPU)])
)
pods = st.builds(
    lambda names, gpus: a_pod(
        "p",
        requests={GPU: gpus} if gpus else None,
        resource_claims=tuple(PodResourceClaim(name=name, resource_claim_name=name) for name in names),
    ),
    st.lists(st.sampled_from(["c0", "c1", "c2"]), max_size=2, unique=True),
    st.sampled_from(["", "1", "2"]),
)


def a_plugin(cluster: ClusterState) -> DynamicResources:
    return DynamicResources(cluster, None, None, ClusterEffects(cluster), NoWaits())


def judged(
    plugin: DynamicResources, cluster: ClusterState, pod: Pod
) -> tuple[CycleState, dict[str, Status | None]] | None:
    """Return the verdict on every node by columns, or None if PreFilter has a say."""
    cycle, info = CycleState(), cluster.reader.read(pod)
    cycle.write(PRE_FILTERED, ("DynamicResources",))
    if plugin.pre_filter(cycle, info) is not None:
        return None
    table = cluster.table
    verdict = plugin.filter_nodes(cycle, info, Nodes(table, table.present_rows()))
    names = [table.names[row] for row in table.present_rows().tolist()]
    return cycle, {name: verdict.statuses[int(which)] for name, which in zip(names, verdict.which, strict=True)}


def follow(plugin: DynamicResources, cluster: ClusterState, pod: Pod) -> None:
    """Place the pod on the first node that takes it, and have its claims written."""
    found = judged(plugin, cluster, pod)
    free = [name for name, status in found[1].items() if status is None] if found is not None else []
    if found is None or not free:
        return
    placed = cluster.assume(cluster.reader.read(pod), free[0])
    assert plugin.reserve(found[0], placed, free[0]) is None
    run(plugin.pre_bind(found[0], placed, free[0]))
    cluster.forget(placed)
    cluster.remove_pod(placed.uid)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(changes, pods), min_size=4, max_size=14), pods)
def test_columns_that_are_kept_up_equal_nodes_judged_one_by_one(steps: list[ApiObject], pod: Pod) -> None:
    cluster = a_cluster(a_device_class("gpu"), *(a_node(name, zone="a") for name in NODES[:2]))
    plugin = a_plugin(cluster)
    for step in (*steps, pod):
        if isinstance(step, Pod):
            follow(plugin, cluster, step)
        else:
            cluster.add(step)
        found = judged(plugin, cluster, pod)
        fresh = rebuilt(cluster)
        anew = judged(a_plugin(fresh), fresh, pod)
        assert (found is None) == (anew is None)
        if found is None or anew is None:
            continue
        assert found[1] == anew[1]
        info, table = cluster.reader.read(pod), cluster.table
        singly = {name: plugin.filter(found[0], info, NodeRow(table, table.row_of[name])) for name in found[1]}
        assert singly == found[1]
    assert content(cluster)["claims"] == content(rebuilt(cluster))["claims"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(changes, min_size=3, max_size=12), pods)
def test_what_is_reserved_and_given_back_leaves_no_trace(objects: list[ApiObject], pod: Pod) -> None:
    cluster = a_cluster(a_device_class("gpu"), *(a_node(name, zone="a") for name in NODES), *objects, pod)
    plugin = a_plugin(cluster)
    before = content(cluster)
    found = judged(plugin, cluster, pod)
    if found is None:
        return
    cycle, verdicts = found
    for name, status in verdicts.items():
        if status is None:
            placed = cluster.assume(cluster.reader.read(pod), name)
            assert plugin.reserve(cycle, placed, name) is None
            plugin.unreserve(cycle, placed, name)
            cluster.forget(placed)
            assert list(differences(content(cluster), before)) == []
    again = judged(plugin, cluster, pod)
    assert again is not None
    assert again[1] == verdicts


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(changes, min_size=4, max_size=12), st.lists(pods, min_size=2, max_size=5))
def test_no_device_is_given_twice(objects: list[ApiObject], sequence: list[Pod]) -> None:
    cluster = a_cluster(a_device_class("gpu"), *(a_node(name, zone="a") for name in NODES), *objects)
    plugin = a_plugin(cluster)
    for number, pod in enumerate(sequence):
        renamed = msgspec.structs.replace(pod.metadata, name=f"p{number}", uid=f"u{number}")
        follow(plugin, cluster, msgspec.structs.replace(pod, metadata=renamed))
    whole = [
        (result.driver, result.pool, result.device)
        for claim in cluster.claims.all()
        for result in results_of(claim)
        if result.share_id is None
    ]
    assert len(whole) == len(set(whole))


def results_of(claim: ResourceClaim) -> tuple[Any, ...]:
    allocation: AllocationResult | None = claim.status.allocation
    return allocation.devices.results if allocation is not None else ()
