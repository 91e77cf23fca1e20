"""The count for a template is the count of scheduling its pods one by one."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.templates import a_template

from kubesched.api.devices import ResourceClaimTemplate, ResourceClaimTemplateSpec
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, PodResourceClaim
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.core.scheduling.outcomes import Placed
from kubesched.model.cluster_model import ClusterModel
from kubesched.testing import (
    a_claim,
    a_csi_driver,
    a_csi_node,
    a_node,
    a_pod,
    a_spread,
    a_storage_class,
    a_volume,
    an_affinity,
    an_ephemeral_volume,
)
from kubesched.testing.devices import a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched_answers.capacity.filling import Filled, Filling
from kubesched_answers.placing import Placer
from kubesched_answers.templates.workload_template import ClaimedVolume, WorkloadTemplate

ZONES = ("a", "b", "c")


def one_by_one(model: ClusterModel, *templates: WorkloadTemplate, seed: int | None = 0) -> list[dict[str, int]]:
    """Place pods of each template in turn until one fits nowhere, drawing among equals; return the pods by node."""
    placer = Placer(model)
    if seed is not None:
        placer._context.pick = Random(seed).randrange
    found, put = [], []
    for template in templates:
        by_node: dict[str, int] = {}
        for pod, objects in template.new_pods(model):
            for obj in objects:
                model.cluster.add(obj)
                put.append(obj)
            outcome = placer.place(model.read(pod))
            if not isinstance(outcome, Placed):
                break
            by_node[outcome.node_name] = by_node.get(outcome.node_name, 0) + 1
        found.append(by_node)
    placer.undo()
    for obj in reversed(put):
        model.cluster.remove(obj)
    return found


def by_node(model: ClusterModel, filled: Filled) -> dict[str, int]:
    """Return the pods of a filling by node."""
    assert filled.counts is not None
    names = model.cluster.table.names
    return {names[row]: int(count) for row, count in enumerate(filled.counts) if count}


# -- random clusters


@st.composite
def nodes(draw: st.DrawFn) -> list[Node]:
    """Draw some nodes."""
    count = draw(st.integers(1, 6))
    return [
        a_node(
            f"n{number}",
            cpu=draw(st.sampled_from(["1", "2", "4"])),
            memory=draw(st.sampled_from(["1Gi", "3Gi"])),
            pods=draw(st.sampled_from([2, 5, 20])),
            zone=draw(st.sampled_from(ZONES)),
            taints=draw(st.sampled_from([(), (), ("dedicated=gpu:NoSchedule",)])),
            unschedulable=draw(st.sampled_from([False, False, False, True])),
            labels={"disk": draw(st.sampled_from(["ssd", "hdd"]))},
        )
        for number in range(count)
    ]


@st.composite
def placed_pods(draw: st.DrawFn, names: list[str]) -> list[Pod]:
    """Draw some pods on nodes, and some that are nominated."""
    found = []
    for number in range(draw(st.integers(0, 6))):
        where: dict[str, Any] = {draw(st.sampled_from(["node", "node", "nominated"])): draw(st.sampled_from(names))}
        pod = a_pod(
            f"p{number}",
            cpu=draw(st.sampled_from(["100m", "500m"])),
            memory="100Mi",
            priority=draw(st.sampled_from([0, 10])),
            labels={"app": draw(st.sampled_from(["web", "db"]))},
            ports=draw(st.sampled_from([(), (80,)])),
            affinity=draw(st.sampled_from([None, None, an_affinity(apart="app=web@hostname")])),
            **where,
        )
        found.append(pod)
    return found


ROW_LOCAL: tuple[dict[str, Any], ...] = (
    {"cpu": "300m", "memory": "200Mi"},
    {"cpu": "700m"},
    {"memory": "400Mi", "node_selector": {"disk": "ssd"}},
    {"cpu": "100m", "ports": (80,)},
    {"cpu": "500m", "tolerations": ("dedicated=gpu:NoSchedule",)},
    {"priority": 5, "cpu": "1"},
    {"affinity": an_affinity(prefer_apart=(10, "app=web@zone")), "cpu": "400m"},
)
WIDE: tuple[dict[str, Any], ...] = (
    {"spread": a_spread("zone", "app=web"), "cpu": "300m"},
    {"spread": a_spread("hostname", "app=web", max_skew=2), "cpu": "200m"},
    {"affinity": an_affinity(apart="app=web@hostname"), "cpu": "100m"},
    {"affinity": an_affinity(near="app=web@zone"), "cpu": "500m"},
)


@st.composite
def clusters(draw: st.DrawFn) -> list[ApiObject]:
    """Draw a cluster."""
    found = draw(nodes())
    return [*found, *draw(placed_pods([node.name for node in found]))]


@settings(max_examples=60, deadline=None)
@given(clusters(), st.sampled_from(ROW_LOCAL), st.integers(0, 99))
def test_a_batch_is_the_count_of_placing_one_by_one_on_every_node(
    objects: list[ApiObject], fields: dict[str, Any], seed: int
) -> None:
    model = a_model(*objects)
    template = a_template(a_pod("web", labels={"app": "new"}, **fields))
    with Filling(model) as filling:
        filled = filling.fill(template)
    assert filled.batched or any(pod.digest.affinity.required_anti_affinity for pod in model.pods.values())
    assert by_node(model, filled) == one_by_one(model, template, seed=seed)[0]


@settings(max_examples=60, deadline=None)
@given(clusters(), st.lists(st.sampled_from(ROW_LOCAL + WIDE), min_size=2, max_size=3))
def test_templates_in_order_are_the_count_of_placing_one_by_one(
    objects: list[ApiObject], several: list[dict[str, Any]]
) -> None:
    model = a_model(*objects)
    templates = [
        a_template(a_pod(f"web{number}", labels={"app": "web"}, **fields)) for number, fields in enumerate(several)
    ]
    before = {name: dict(info.labels) for name, info in model.pods.items()}
    with Filling(model) as filling:
        filled = [filling.fill(template) for template in templates]
    wanted = one_by_one(model, *templates)
    assert [each.placed for each in filled] == [sum(each.values()) for each in wanted]
    assert before == {name: dict(info.labels) for name, info in model.pods.items()}
    assert len(model.cluster.table.pods) == sum(1 for pod in model.pods.values() if pod.spec.node_name)


@settings(max_examples=40, deadline=None)
@given(clusters(), st.sampled_from(ROW_LOCAL + WIDE), st.integers(0, 12))
def test_a_target_is_reached_as_far_as_pods_fit_one_by_one(
    objects: list[ApiObject], fields: dict[str, Any], target: int
) -> None:
    model = a_model(*objects)
    template = a_template(a_pod("web", labels={"app": "web"}, **fields))
    with Filling(model) as filling:
        filled = filling.fill(template, target)
    with Filling(model) as filling:
        counted = filling.fill(template, target, show=False)
    most = sum(one_by_one(model, template)[0].values())
    assert filled.placed == counted.placed == min(most, target)


# -- pods with claims of their own


@st.composite
def storage(draw: st.DrawFn) -> list[ApiObject]:
    """Draw nodes, volumes of which some are on a node, and limits of volumes."""
    objects: list[ApiObject] = [a_csi_driver("disk", storage_capacity=False)]
    for number in range(draw(st.integers(1, 4))):
        objects.append(a_node(f"n{number}", zone=draw(st.sampled_from(ZONES)), pods=draw(st.sampled_from([2, 4]))))
        limit = draw(st.sampled_from([None, 1, 2, 3]))
        if limit is not None:
            objects.append(a_csi_node(f"n{number}", {"disk": limit}))
    provisioner = draw(st.sampled_from(["disk", "kubernetes.io/no-provisioner"]))
    objects.append(a_storage_class("local", provisioner=provisioner))
    for number in range(draw(st.integers(0, 5))):
        where = draw(st.sampled_from(["kubernetes.io/hostname=n0", "topology.kubernetes.io/zone=a", None]))
        objects.append(a_volume(f"v{number}", nodes=where))
    return objects


@settings(max_examples=40, deadline=None)
@given(storage(), st.booleans())
def test_pods_with_volumes_are_the_count_of_placing_one_by_one(objects: list[ApiObject], ephemeral: bool) -> None:
    model = a_model(*objects)
    claim = ClaimedVolume("data", a_claim("data"), ephemeral)
    volume = an_ephemeral_volume("data") if ephemeral else "data"
    template = a_template(a_pod("web", cpu="100m", volumes=[volume]), claims=(claim,))
    with Filling(model) as filling:
        filled = filling.fill(template)
    assert by_node(model, filled) == one_by_one(model, template, seed=None)[0]
    assert not model.cluster.objects.of(PersistentVolumeClaim)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(1, 3))
def test_pods_with_devices_are_the_count_of_placing_one_by_one(devices: list[int], wanted: int) -> None:
    claim = a_resource_claim("gpus", a_device_request(count=wanted))
    objects: list[ApiObject] = [
        a_device_class("gpu"),
        ResourceClaimTemplate(
            metadata=ObjectMeta(name="gpus", namespace="default"), spec=ResourceClaimTemplateSpec(spec=claim.spec)
        ),
    ]
    for number, count in enumerate(devices):
        objects.append(a_node(f"n{number}"))
        names = [f"gpu{each}" for each in range(count)]
        objects.append(a_slice(f"s{number}", *names, node=f"n{number}", pool=f"n{number}"))
    model = a_model(*objects)
    asks = PodResourceClaim(name="gpus", resource_claim_template_name="gpus")
    template = a_template(a_pod("web", cpu="100m", resource_claims=(asks,)))
    with Filling(model) as filling:
        filled = filling.fill(template)
    assert filled.placed == sum(count // wanted for count in devices)
    assert by_node(model, filled) == one_by_one(model, template, seed=None)[0]


# -- what is filled, and by what it is limited


@pytest.mark.parametrize(
    ("fields", "batched"),
    [
        pytest.param({"cpu": "1"}, True, id="requests"),
        pytest.param({"ports": (80,)}, True, id="host ports"),
        pytest.param({"node_selector": {"disk": "ssd"}}, True, id="a node selector"),
        pytest.param({"spread": a_spread("zone", "app=web", soft=True)}, True, id="spreading that is preferred"),
        pytest.param({"spread": a_spread("zone", "app=web")}, False, id="spreading that is required"),
        pytest.param({"affinity": an_affinity(apart="app=web@zone")}, False, id="anti-affinity"),
        pytest.param({"volumes": ("claim",)}, False, id="a claim"),
    ],
)
def test_pods_are_placed_in_a_batch_where_that_is_the_same(fields: dict[str, Any], batched: bool) -> None:
    model = a_model(a_node("n1", zone="a"), a_node("n2", zone="b"))
    with Filling(model) as filling:
        filled = filling.fill(a_template(a_pod("web", labels={"app": "web"}, **fields)))
    assert filled.batched is batched


def test_a_placed_pod_that_repels_them_looks_at_several_nodes() -> None:
    model = a_model(
        a_node("n1", zone="a"),
        a_node("n2", zone="b"),
        a_pod("lonely", node="n1", affinity=an_affinity(apart="app=web@zone")),
    )
    with Filling(model) as filling:
        filled = filling.fill(a_template(a_pod("web", labels={"app": "web"}, cpu="1")))
    assert (filled.batched, by_node(model, filled)) == (False, {"n2": 4})


def test_why_no_more_fit_is_the_schedulers_message() -> None:
    model = a_model(a_node("n1", cpu="2"), a_node("n2", cpu="8", pods=3), a_node("n3", taints=["a=b:NoSchedule"]))
    with Filling(model) as filling:
        filled = filling.fill(a_template(a_pod("web", cpu="1")))
    assert filled.placed == 5
    assert filled.message == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 1 node(s) had untolerated taint(s)."
    )


def test_a_profile_without_resources_takes_any_number() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    filter:
      disabled: [{name: NodeResourcesFit}]
"""
    model = a_model(a_node("n1"), config=config)
    with Filling(model) as filling:
        filled = filling.fill(a_template(a_pod("web", cpu="1")))
    assert (filled.placed, filled.open_end) == (10_000, True)
