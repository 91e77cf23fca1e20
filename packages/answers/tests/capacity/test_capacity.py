"""How many replicas fit, per zone and pool, what runs out first, and which nodes to add."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model
from tests.support.pod_groups import GANGS, a_group, member
from tests.support.templates import a_template

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched.testing import (
    a_csi_driver,
    a_csi_node,
    a_node,
    a_pod,
    a_spread,
    a_storage_class,
    a_volume,
    an_affinity,
)
from kubesched_answers.capacity.additions import add_nodes
from kubesched_answers.capacity.capacity import CapacityOptions, capacity
from kubesched_answers.capacity.capacity_answer import CapacityAnswer, NodeLimit, NodePlan, PlaceCapacity
from kubesched_answers.capacity.filling import Filling
from kubesched_answers.capacity.node_kinds import NodePrices, kinds_of_cluster
from kubesched_answers.templates.reading import WorkloadTemplates, read_templates
from kubesched_answers.templates.workload_template import WorkloadTemplate

GPU = "nvidia.com/gpu"
ITYPE = "node.kubernetes.io/instance-type"


def asked(model: ClusterModel, *templates: WorkloadTemplate, **options: Any) -> CapacityAnswer:
    """Return the answer about some templates."""
    return capacity(model, WorkloadTemplates(templates, ()), CapacityOptions(**options))


def three_nodes() -> ClusterModel:
    """Return a cluster of two large nodes and a small one, in two zones and pools."""
    return a_model(
        a_node("a1", cpu="4", zone="a", labels={"pool": "large"}),
        a_node("b1", cpu="4", zone="b", labels={"pool": "large"}),
        a_node("b2", cpu="1", zone="b", labels={"pool": "small"}, pods=1),
        a_pod("old", node="a1", cpu="500m"),
    )


WEB = a_template(a_pod("web", cpu="1", memory="1Gi", labels={"app": "web"}))
SPREAD = a_template(a_pod("spread", cpu="1", labels={"app": "spread"}, spread=a_spread("zone", "app=spread")))
APART = a_template(a_pod("apart", cpu="1", labels={"x": "x"}, affinity=an_affinity(apart="x=x@hostname")))


def test_replicas_are_counted_by_zone_pool_and_node() -> None:
    answer = asked(three_nodes(), WEB)
    (part,) = answer.templates
    assert (part.replicas, part.wanted, part.in_batch, answer.fits) == (8, None, True, True)
    assert part.zones == (PlaceCapacity("a", 1, 3), PlaceCapacity("b", 2, 5))
    assert part.pools == (PlaceCapacity("large", 2, 7), PlaceCapacity("small", 1, 1))
    assert part.nodes == {"a1": 3, "b1": 4, "b2": 1}
    assert part.requests == {"cpu": "1", "memory": "1Gi"}
    assert answer.summary == "8 replicas of Pod default/web fit on 3 nodes; cpu runs out first, on 2 nodes."


def test_what_limits_nodes_is_the_first_filter_that_rejects_the_next_pod() -> None:
    answer = asked(three_nodes(), WEB)
    assert answer.templates[0].limits == (
        NodeLimit("Insufficient cpu", "NodeResourcesFit", 2, 7, True),
        NodeLimit("Too many pods, Insufficient cpu", "NodeResourcesFit", 1, 1, True),
    )


def test_nodes_that_never_take_the_pod_are_told_from_exhausted_ones() -> None:
    model = a_model(a_node("n1", cpu="1"), a_node("n2", taints=["a=b:NoSchedule"]), a_node("n3", cpu="500m"))
    limits = asked(model, WEB).templates[0].limits
    assert [(limit.reason, limit.exhausted) for limit in limits] == [
        ("Insufficient cpu", True),
        ("Insufficient cpu", False),
        ("node(s) had untolerated taint(s)", False),
    ]


def test_a_node_that_is_too_small_even_if_empty_lacks_only_what_is_too_small() -> None:
    model = a_model(
        a_node("n1", cpu="4"),
        a_node("n2", allocatable={"cpu": "4", "memory": "8Gi", "pods": "9", GPU: "1"}),
        a_pod("old", node="n1", cpu="4"),
    )
    limits = asked(model, a_template(a_pod("web", requests={"cpu": "2", GPU: "2"}))).templates[0].limits
    assert [(limit.reason, limit.nodes, limit.exhausted) for limit in limits] == [(f"Insufficient {GPU}", 2, False)]


@pytest.mark.parametrize(
    ("options", "fits", "summary"),
    [
        pytest.param({"until": 8}, True, "All 8 replicas of Pod default/web fit.", id="a target that is reached"),
        pytest.param(
            {"until": 10},
            False,
            "Of 10 replicas of Pod default/web, 8 fit; cpu runs out first, on 2 nodes. "
            "With 1 more node large in a all fit.",
            id="a target that is not reached",
        ),
    ],
)
def test_a_target_decides_whether_they_fit(options: dict[str, Any], fits: bool, summary: str) -> None:
    answer = asked(three_nodes(), WEB, **options)
    assert (answer.fits, answer.summary) == (fits, summary)


def test_without_a_target_none_is_too_few() -> None:
    answer = asked(three_nodes(), a_template(a_pod("huge", cpu="64")))
    assert not answer.fits
    assert answer.summary == "No replica of Pod default/huge fits on 3 nodes."


def test_a_cluster_without_nodes_has_no_room() -> None:
    answer = asked(a_model(), WEB, until=1)
    assert not answer.fits
    assert answer.summary == (
        "Of 1 replica of Pod default/web, 0 fit. The cluster has no nodes; describe some with --node-template."
    )


# -- several templates


def test_templates_in_order_take_what_the_earlier_ones_leave() -> None:
    small = a_template(a_pod("small", cpu="500m"))
    answer = asked(three_nodes(), WEB, small)
    assert [part.replicas for part in answer.templates] == [8, 1]
    answer = asked(three_nodes(), small, WEB)
    assert [part.replicas for part in answer.templates] == [16, 0]


def test_own_replicas_are_the_targets() -> None:
    answer = asked(three_nodes(), replace(WEB, replicas=3), replace(SPREAD, replicas=2), own_replicas=True)
    assert [(part.replicas, part.wanted) for part in answer.templates] == [(3, 3), (2, 2)]
    assert answer.fits


def test_weights_make_rounds_until_one_fits_nowhere() -> None:
    small = a_template(a_pod("small", cpu="500m"))
    answer = asked(three_nodes(), WEB, small, weights=(1, 2))
    assert answer.rounds == 4
    assert [part.replicas for part in answer.templates] == [4, 8]
    assert [bool(part.limits) for part in answer.templates] == [True, False]
    assert answer.summary == (
        "4 rounds of 1 of Pod default/web, 2 of Pod default/small fit. Pod default/web is the first that fits nowhere; "
        "cpu runs out first, on 2 nodes."
    )


@pytest.mark.parametrize(
    ("templates", "weights", "message"),
    [
        pytest.param((), (), "no workload to count", id="no template"),
        pytest.param((WEB,), (1, 2), "2 weights for 1 workloads: Pod default/web", id="too many weights"),
        pytest.param((WEB, SPREAD), (0, 0), "at least one of them above zero", id="weights of nothing"),
        pytest.param((WEB, SPREAD), (1, -1), "weights must be whole numbers", id="a weight below zero"),
        pytest.param(
            (WEB, SPREAD), (1, 10**20), "together are too many: at most 200000 are possible", id="a huge weight"
        ),
    ],
)
def test_questions_without_sense_are_errors(
    templates: tuple[WorkloadTemplate, ...], weights: tuple[int, ...], message: str
) -> None:
    with pytest.raises(KubeschedError, match=message):
        asked(three_nodes(), *templates, weights=weights)


def test_pods_of_another_scheduler_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(KubeschedError, match="are for scheduler 'other'; the profiles here are default-scheduler"):
        asked(three_nodes(), a_template(a_pod("web", scheduler="other")))


# -- workloads as manifests


def a_manifest(kind: str, spec: dict[str, Any], api_version: str = "apps/v1") -> Manifest:
    """Return a manifest of a workload that selects `app: web`."""
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, **spec.pop("template")}
    whole = {"selector": {"matchLabels": labels}, "template": template, **spec}
    document = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web"}, "spec": whole}
    return Manifest("web.yaml: document 1", document)


def a_pod_template(cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """Return the pod template of a manifest."""
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": cpu}}}
    return {"spec": {"containers": [container], **spec}}


def test_a_daemon_set_counts_the_nodes_on_which_it_runs() -> None:
    model = a_model(
        a_node("n1", cpu="2"),
        a_node("n2", cpu="2", unschedulable=True),
        a_node("full", cpu="500m"),
        a_node("gpu", cpu="2", taints=["gpu=yes:NoSchedule"]),
    )
    found = read_templates(model, [a_manifest("DaemonSet", {"template": a_pod_template()})])
    answer = capacity(model, found)
    (part,) = answer.templates
    assert (part.replicas, part.wanted, part.in_batch, answer.fits) == (2, 3, True, False)
    assert part.nodes == {"n1": 1, "n2": 1}
    assert [(limit.reason, limit.nodes) for limit in part.limits] == [("Insufficient cpu", 1)]
    assert answer.summary == "DaemonSet default/web runs on 2 of the 3 nodes that it matches."


def test_a_daemon_set_that_looks_at_several_nodes_is_placed_node_by_node() -> None:
    terms = [{"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "topology.kubernetes.io/zone"}]
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    model = a_model(a_node("a1", zone="a"), a_node("a2", zone="a"), a_node("b1", zone="b"))
    found = read_templates(model, [a_manifest("DaemonSet", {"template": a_pod_template(affinity=apart)})])
    (part,) = capacity(model, found).templates
    assert (part.replicas, part.wanted, part.in_batch) == (2, 3, False)
    assert part.nodes == {"a1": 1, "b1": 1}


def a_stateful_set() -> Manifest:
    """Return a stateful set whose pods claim a volume each."""
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    return a_manifest(
        "StatefulSet", {"serviceName": "web", "template": a_pod_template("100m"), "volumeClaimTemplates": [claim]}
    )


def test_replicas_of_a_stateful_set_bind_the_volumes_that_there_are() -> None:
    model = a_model(
        a_node("n1"),
        a_node("n2"),
        a_storage_class("local"),
        *(a_volume(f"v{number}", nodes="kubernetes.io/hostname=n1") for number in range(3)),
    )
    answer = capacity(model, read_templates(model, [a_stateful_set()]))
    assert answer.templates[0].nodes == {"n1": 3}
    assert not model.cluster.table.pods


def test_replicas_of_a_stateful_set_attach_no_more_volumes_than_a_node_allows() -> None:
    model = a_model(
        a_node("n1"),
        a_node("n2"),
        a_csi_driver("disk", storage_capacity=False),
        a_csi_node("n1", {"disk": 2}),
        a_csi_node("n2", {"disk": 1}),
        a_storage_class("local", provisioner="disk"),
    )
    answer = capacity(model, read_templates(model, [a_stateful_set()]))
    assert answer.templates[0].nodes == {"n1": 2, "n2": 1}


def test_a_daemon_set_that_runs_already_gets_no_second_pod_on_a_node() -> None:
    there = a_pod("web-x", node="n1", cpu="1", owner="DaemonSet/web")
    model = a_model(a_node("n1", cpu="1"), a_node("n2", cpu="1"), a_node("n3", cpu="500m"), there)
    found = read_templates(model, [a_manifest("DaemonSet", {"template": a_pod_template()})])
    (part,) = capacity(model, found).templates
    assert (part.replicas, part.wanted, part.nodes) == (2, 3, {"n1": 1, "n2": 1})
    assert [(limit.reason, limit.nodes) for limit in part.limits] == [("Insufficient cpu", 1)]


def test_claims_that_are_bound_at_once_are_counted_where_the_pods_go_and_that_is_said() -> None:
    model = a_model(a_node("n1", cpu="1"), a_storage_class("local", provisioner="disk", binding_mode="Immediate"))
    answer = capacity(model, read_templates(model, [a_stateful_set()]))
    assert answer.templates[0].replicas == 10
    assert [(gap.what, gap.why) for gap in answer.gaps] == [
        ("volumes of StorageClass local", "it binds claims before their pods are scheduled")
    ]


def test_pods_with_gates_are_counted_without_them_and_that_is_said() -> None:
    answer = asked(three_nodes(), a_template(a_pod("web", cpu="1", gates=["quota"])))
    assert answer.templates[0].replicas == 8
    assert [(gap.what, gap.uncertain) for gap in answer.gaps] == [
        ("pods of Pod default/web", "they are counted as if they were not held back")
    ]


@pytest.mark.parametrize(("cpu", "fits"), [("2", False), ("3", True)])
def test_pods_of_a_gang_fit_if_as_many_fit_as_it_needs(cpu: str, fits: bool) -> None:
    model = a_model(a_node("n", cpu=cpu), a_node("m"), a_group(min_count=4), member("there", node="m"), gates=GANGS)
    answer = asked(model, a_template(member("web", node_selector={"kubernetes.io/hostname": "n"})))
    assert answer.templates[0].replicas == int(cpu)
    assert answer.fits == fits
    assert ("Gang default/g needs 3, so none of them is placed." in answer.summary) != fits
    assert answer.gaps == ()


# -- the same numbers as cluster-capacity gives


def small_nodes(*pods: int) -> list[ApiObject]:
    """Return four nodes of 2 CPUs and 4 GB with some pods of 150m on each."""
    nodes: list[ApiObject] = [a_node(f"n{number}", cpu="2", memory="4G") for number in range(4)]
    return nodes + [
        a_pod(f"old-{node}-{number}", node=f"n{node}", cpu="150m", memory="100Mi")
        for node, count in enumerate(pods)
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("objects", "fields", "replicas"),
    [
        pytest.param(small_nodes(), {"cpu": "150m", "memory": "100Mi"}, [13, 13, 13, 13], id="an empty cluster"),
        pytest.param(
            small_nodes(2, 2, 1, 1), {"cpu": "150m", "memory": "100Mi"}, [11, 11, 12, 12], id="with six pods there"
        ),
        pytest.param(
            [a_node(f"n{number}", cpu=cpu, pods=3) for number, cpu in enumerate(("300m", "400m", "1200m"))],
            {"cpu": "100m", "memory": "5M"},
            [3, 3, 3],
            id="nodes that run three pods",
        ),
        pytest.param(
            small_nodes(),
            {"cpu": "150m", "labels": {"app": "x"}, "affinity": an_affinity(near="app=x@hostname")},
            [13],
            id="pods that stay together on a node",
        ),
    ],
)
def test_numbers_are_those_of_cluster_capacity(
    objects: list[ApiObject], fields: dict[str, Any], replicas: list[int]
) -> None:
    (part,) = asked(a_model(*objects), a_template(a_pod("small", **fields))).templates
    assert part.nodes is not None
    assert sorted(part.nodes.values()) == replicas


# -- the largest pod


def test_the_largest_pod_is_the_largest_that_fits_now() -> None:
    answer = asked(three_nodes(), WEB)
    found = {each.grown: (dict(each.requests), each.node, each.scale) for each in answer.templates[0].largest}
    assert found == {
        "in proportion": ({"cpu": "4", "memory": "4Gi"}, "b1", 4.0),
        "cpu": ({"cpu": "4", "memory": "1Gi"}, "b1", None),
        "memory": ({"cpu": "1", "memory": "8Gi"}, "a1", None),
    }


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(100, 4000), min_size=1, max_size=4), st.integers(1, 900))
def test_the_largest_pod_fits_and_one_more_thousandth_of_a_cpu_does_not(free: list[int], own: int) -> None:
    model = a_model(*(a_node(f"n{number}", cpu=f"{each}m") for number, each in enumerate(free)))
    largest = {each.grown: each for each in asked(model, a_template(a_pod("web", cpu=f"{own}m"))).templates[0].largest}
    found = largest["cpu"].requests["cpu"]
    (most,) = {max(free)}
    assert asked(model, a_template(a_pod("web", cpu=found))).fits
    assert not asked(model, a_template(a_pod("web", cpu=f"{most + 1}m"))).fits
    assert a_pod("x", cpu=found).spec.containers[0].resources.requests["cpu"] == found


def test_a_pod_that_no_node_takes_has_no_headroom() -> None:
    assert asked(three_nodes(), a_template(a_pod("web", node_selector={"no": "such"}))).templates[0].largest == ()


# -- nodes to add


def typed(name: str, kind: str, cpu: str, **fields: Any) -> ApiObject:
    """Return a node of an instance type."""
    return a_node(name, cpu=cpu, labels={ITYPE: kind}, **fields)


def plans(answer: CapacityAnswer) -> list[tuple[list[tuple[str, str, int]], float | None]]:
    """Return the plans of an answer: kind, zone and number of nodes; and the price."""
    return [([(each.kind, each.zone, each.nodes) for each in plan.additions], plan.price) for plan in answer.plans]


def test_kinds_of_the_cluster_are_added_fewest_nodes_first() -> None:
    model = a_model(typed("s1", "small", "2"), typed("s2", "small", "2"), typed("l1", "large", "8"))
    answer = asked(model, WEB, until=22)
    assert plans(answer) == [([("large", "", 2)], None), ([("small", "", 5)], None)]


def test_the_cheapest_comes_first_where_prices_are_known() -> None:
    model = a_model(typed("s1", "small", "2"), typed("l1", "large", "8"), typed("x1", "other", "16"))
    prices = NodePrices(table={"small": 1.0, "large": 5.0})
    answer = asked(model, a_template(a_pod("web", cpu="1")), until=36, prices=prices)
    assert plans(answer) == [([("small", "", 5)], 5.0), ([("large", "", 2)], 10.0), ([("other", "", 1)], None)]


def test_a_price_may_be_a_label_of_nodes() -> None:
    small = a_node("s1", cpu="1", labels={ITYPE: "s", "price": "0.5"})
    large = a_node("l1", labels={ITYPE: "l", "price": "?"})
    answer = asked(a_model(small, large), WEB, until=7, prices=NodePrices("price"))
    assert plans(answer) == [([("s", "", 2)], 1.0), ([("l", "", 1)], None)]


def test_node_templates_take_the_place_of_the_clusters_kinds() -> None:
    template = a_node("big", cpu="32", zone="z")
    answer = asked(three_nodes(), WEB, until=20, node_templates=(template,))
    assert plans(answer) == [([("big", "z", 2)], None)]


def test_a_kind_that_does_not_help_is_named_with_the_reason() -> None:
    tainted = a_node("n2", labels={"pool": "gpu"}, taints=["g=:NoSchedule"])
    model = a_model(a_node("n1", cpu="1", labels={"pool": "x"}), tainted)
    answer = asked(model, WEB, until=3)
    assert [(each.kind, each.reason) for each in answer.useless] == [("gpu", "node(s) had untolerated taint(s)")]
    assert plans(answer) == [([("x", "", 2)], None)]


def test_new_nodes_run_the_pods_of_daemon_sets() -> None:
    agent = a_pod("agent", node="n1", cpu="1", owner="DaemonSet/agent")
    model = a_model(a_node("n1", cpu="2"), agent)
    assert plans(asked(model, WEB, until=3)) == [([("like n1", "", 2)], None)]
    assert plans(asked(model, WEB, until=3, node_templates=(a_node("x", cpu="2"),))) == [([("x", "", 2)], None)]


def test_new_nodes_are_not_cordoned_and_have_no_taint_of_a_state() -> None:
    broken = a_node("n1", cpu="2", unschedulable=True, taints=["node.kubernetes.io/not-ready=:NoExecute"])
    assert plans(asked(a_model(broken), WEB, until=2)) == [([("like n1", "", 1)], None)]


def test_nodes_are_added_to_the_zones_that_spreading_needs() -> None:
    model = a_model(a_node("a1", zone="a", cpu="2"), a_node("b1", zone="b", cpu="2"))
    answer = asked(model, SPREAD, until=8)
    assert plans(answer) == [([("like a1", "a", 1), ("like a1", "b", 1)], None)]


def test_different_workloads_may_need_different_nodes() -> None:
    tainted = a_node("b1", cpu="1", labels={"pool": "b"}, taints=["b=:NoSchedule"])
    model = a_model(a_node("a1", cpu="1", labels={"pool": "a"}), tainted)
    one = a_template(a_pod("one", cpu="1", node_selector={"pool": "a"}))
    two = a_template(a_pod("two", cpu="1", node_selector={"pool": "b"}, tolerations=["b=:NoSchedule"]))
    answer = asked(model, one, two, until=3)
    assert plans(answer) == [([("a", "", 2), ("b", "", 2)], None)]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2", "4"])), min_size=1, max_size=4),
    st.sampled_from([WEB, SPREAD, APART]),
    st.integers(1, 15),
)
def test_with_the_nodes_of_a_plan_the_target_is_reached(
    described: list[tuple[str, str]], template: WorkloadTemplate, until: int
) -> None:
    model = a_model(
        *(a_node(f"n{number}", zone=zone, cpu=cpu, labels={ITYPE: cpu}) for number, (zone, cpu) in enumerate(described))
    )
    answer = asked(model, template, until=until)
    kinds = {kind.name: kind for kind in kinds_of_cluster(model, "", NodePrices())}
    assert not (answer.fits and answer.plans)
    for plan in answer.plans:
        assert reached(model, kinds, plan, template) >= until


def reached(model: ClusterModel, kinds: dict[str, Any], plan: NodePlan, template: WorkloadTemplate) -> int:
    """Return how many replicas fit on a cluster with the nodes of a plan, placed one by one."""
    zones = {zone.get("topology.kubernetes.io/zone", ""): zone for kind in kinds.values() for zone in kind.zones}
    with Filling(model) as filling:
        for addition in plan.additions:
            kind = kinds[addition.kind]
            place = kind.zones.index(zones[addition.zone])
            add_nodes(filling, [(kind, place)] * addition.nodes, hash((addition.kind, addition.zone)) % 1000 * 1000)
        return filling.fill(template).placed


def test_the_model_is_as_before() -> None:
    model = three_nodes()
    seq = (model.node_names(), len(model.cluster.table.pods), dict(model.pods))
    asked(model, WEB, SPREAD, until=30)
    assert (model.node_names(), len(model.cluster.table.pods), dict(model.pods)) == seq


def test_objects_beside_the_workloads_are_there_while_they_are_counted() -> None:
    model = three_nodes()
    created = to_builtins(a_node("n9", cpu="2"))
    change = ObjectChange(ObjectName("v1", "Node", "", "n9"), create=created)
    assert capacity(model, WorkloadTemplates((WEB,), (change,))).templates[0].replicas == 10
