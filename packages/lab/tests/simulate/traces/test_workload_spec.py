"""Generated traces: reproducible, as dense as they say, and strict about what they are given."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import pytest

from kubesched.api.pods import PodSchedulingGroup
from kubesched.api.scheduling import GangSchedulingPolicy, PodGroup
from kubesched.errors import KubeschedError
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, TraceEvent
from kubesched_lab.simulate.traces.workload_spec import API_VERSION, trace_of_workload

POOL = {"name": "n", "count": 3, "cpu": 4, "memory": "8Gi", "zones": 2}


def a_workload(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": "Workload", "until": "1h", "nodes": [POOL], **fields}


def pods(arrivals: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {"name": "web", "arrivals": arrivals, **fields}


def events(document: Any, seed: int = 1) -> list[TraceEvent]:
    return list(trace_of_workload("w.yaml", document).events(seed))


def arrivals(document: Any, seed: int = 1) -> list[PodArrival]:
    return [event for event in events(document, seed) if isinstance(event, PodArrival)]


def test_nodes_are_there_at_the_beginning() -> None:
    found = [event.obj for event in events(a_workload()) if isinstance(event, ObjectPut)]
    assert [(node.name, node.metadata.labels["topology.kubernetes.io/zone"]) for node in found] == [
        ("n-0", "zone-0"),
        ("n-1", "zone-1"),
        ("n-2", "zone-0"),
    ]


@pytest.mark.parametrize(
    ("when", "count"),
    [
        ({"every": "10m"}, 7),
        ({"at": "5m", "count": 4}, 4),
        ({"bursts": {"every": "20m", "pods": 2}}, 6),
        ({"every": "30m", "bursts": {"every": "20m", "pods": 2}}, 9),
    ],
)
def test_pods_arrive_as_often_as_they_say(when: dict[str, Any], count: int) -> None:
    found = arrivals(a_workload(pods=[pods(when)]))
    assert len(found) == count
    assert [event.at for event in found] == sorted(event.at for event in found)


def test_a_rate_is_a_mean() -> None:
    found = arrivals(a_workload(pods=[pods({"rate": 1})]))
    assert 3400 < len(found) < 3800


def test_a_diurnal_rate_is_lowest_at_the_beginning_of_a_period() -> None:
    times = [
        event.at for event in arrivals(a_workload(pods=[pods({"rate": 2, "diurnal": {"low": 0.1, "period": "1h"}})]))
    ]
    first, middle = (sum(begin <= at < begin + 600 for at in times) for begin in (0, 1500))
    assert middle > 3 * first


def test_the_same_seed_gives_the_same_trace_and_another_one_another() -> None:
    document = a_workload(pods=[pods({"rate": 0.1}, runs={"exponential": "1m"}, cpu={"uniform": ["1", "2"]})])
    assert events(document, 1) == events(document, 1)
    assert events(document, 1) != events(document, 2)


def test_a_kind_of_pods_does_not_depend_on_the_others() -> None:
    web = pods({"rate": 0.1}, cpu={"uniform": ["1", "2"]})
    batch = {**pods({"rate": 0.2}), "name": "batch"}
    alone, both = arrivals(a_workload(pods=[web])), arrivals(a_workload(pods=[batch, web]))
    assert alone == [event for event in both if event.pod.name.startswith("web-")]


def test_sizes_are_drawn_and_the_template_is_kept() -> None:
    template = {"metadata": {"labels": {"tier": "front"}}, "spec": {"nodeSelector": {"disk": "ssd"}}}
    kind = pods({"at": 0, "count": 50}, cpu={"choice": {"1": 1, "2": 1}}, memory="1Gi", priority=7, template=template)
    found = [event.pod for event in arrivals(a_workload(pods=[kind]))]
    assert {pod.spec.containers[0].resources.requests["cpu"] for pod in found} == {"1000m", "2000m"}
    assert {pod.spec.containers[0].resources.requests["memory"] for pod in found} == {str(1 << 30)}
    assert found[0].spec.node_selector == {"disk": "ssd"}
    assert found[0].metadata.labels == {"tier": "front"}
    assert found[0].priority == 7


def test_pods_of_a_gang_arrive_at_once_and_are_equal() -> None:
    kind = pods(
        {"every": "20m"}, cpu={"uniform": ["1", "9"]}, runs={"uniform": ["1m", "9m"]}, gang={"pods": 3, "atLeast": 2}
    )
    found = events(a_workload(pods=[kind], until="30m"))
    groups = [(each.at, each.obj) for each in found if isinstance(each, ObjectPut) and isinstance(each.obj, PodGroup)]
    assert [(at, group.full_name) for at, group in groups] == [(0.0, "default/web-0"), (1200.0, "default/web-1")]
    assert groups[0][1].spec.scheduling_policy.gang == GangSchedulingPolicy(2)
    members = [event for event in found if isinstance(event, PodArrival)]
    assert [(event.at, event.pod.name) for event in members[:4]] == [
        (0.0, "web-0-0"),
        (0.0, "web-0-1"),
        (0.0, "web-0-2"),
        (1200.0, "web-1-0"),
    ]
    assert all(event.pod.spec.scheduling_group == PodSchedulingGroup("web-0") for event in members[:3])
    assert len({(event.runs, str(event.pod.spec.containers)) for event in members[:3]}) == 1


def test_nodes_fail_and_come_back() -> None:
    document = a_workload(failures=[{"nodes": "n", "between": "10m", "lasts": "5m"}])
    later = [event for event in events(document) if event.at]
    gone = [(event.at, event.full_name) for event in later if isinstance(event, ObjectDeletion)]
    back = [(event.at, event.obj.name) for event in later if isinstance(event, ObjectPut)]
    assert [at for at, _ in gone] == [600, 1200, 1800, 2400, 3000, 3600]
    assert back == [(at + 300, name) for at, name in gone[:-1]]


def test_the_highest_rate_is_a_mean_still() -> None:
    assert 900 < len(arrivals(a_workload(pods=[pods({"rate": 1000})], until="1s"))) < 1200


def test_gangs_of_a_distribution_without_a_largest_value_are_cut() -> None:
    endless = pods({"at": 0}, gang={"pods": {"lognormal": {"median": 1_000_000, "sigma": 10}}})
    generated = trace_of_workload("w.yaml", a_workload(pods=[endless]))
    found = [islice(generated.events(seed), 1_000_100) for seed in range(2)]
    assert max(sum(isinstance(event, PodArrival) for event in each) for each in found) == 1_000_000


def test_nodes_that_fail_without_a_pause_come_to_an_end() -> None:
    document = a_workload(failures=[{"nodes": "n", "between": "0s", "lasts": "1h"}], until="10s")
    assert sum(isinstance(event, ObjectDeletion) for event in events(document)) == 3


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"nodes": [{**POOL, "cup": 3}]}, "w.yaml: Object contains unknown field `cup` - at `$.nodes[0]`"),
        ({"nodes": [{**POOL, "count": 0}]}, "w.yaml: nodes[0].count is 0"),
        ({"apiVersion": "simulate.kubesched.io/v2"}, "w.yaml: apiVersion is simulate.kubesched.io/v2"),
        ({"until": "soon"}, "w.yaml: until: cannot read 'soon'; expected something like 10m"),
        ({"pods": [pods({})]}, "w.yaml: pods[0].arrivals: expected one of rate, every, at; or bursts"),
        (
            {"pods": [pods({"rate": 1}, cpu="much")]},
            "w.yaml: pods[0].cpu: cannot read 'much'; expected something like 500m",
        ),
        ({"pods": [pods({"rate": 1}, runs={"normal": "3s"})]}, "w.yaml: pods[0].runs: expected a value, {exponential:"),
        (
            {"pods": [pods({"rate": 1}, runs={"uniform": ["3s", "1s"]})]},
            "w.yaml: pods[0].runs: uniform goes from 3s to 1s",
        ),
        ({"pods": [pods({"rate": 1}, cpu={"choice": {"1": -1}})]}, "w.yaml: pods[0].cpu: the weights of a choice"),
        (
            {"pods": [pods({"rate": 1}, memory={"lognormal": {"median": "1Gi", "sigma": "x"}})]},
            "w.yaml: pods[0].memory: sigma",
        ),
        ({"pods": [pods({"rate": 1}, template={"spec": {"nodeSelektor": {}}})]}, "w.yaml: pods[0].template:"),
        (
            {"failures": [{"nodes": "m", "between": "1h", "lasts": "1h"}]},
            "w.yaml: failures[0].nodes: there are no nodes named 'm'",
        ),
        ({"pods": [pods({"rate": 1}, gang={"pods": "x"})]}, "w.yaml: pods[0].gang.pods: cannot read 'x'"),
        ({"pods": [pods({"rate": 1}, gang={"pods": 2, "atLeast": 0})]}, "w.yaml: pods[0].gang.atLeast is 0"),
        (
            {"pods": [pods({"rate": 1}, gang={"pods": 10**12})]},
            "w.yaml: pods[0].gang.pods is 1000000000000; expected a number from 0 to 1000000",
        ),
        (
            {"pods": [pods({"rate": 1}, gang={"pods": {"uniform": [1, 10**12]}})]},
            "w.yaml: pods[0].gang.pods is 1000000000000; expected a number from 0 to 1000000",
        ),
        (
            {"pods": [pods({"rate": 1e12})]},
            "w.yaml: pods[0].arrivals.rate is 1000000000000.0; expected a number from 0 to 1000",
        ),
        (
            {"pods": [pods({"at": 0, "count": 10**12})]},
            "w.yaml: pods[0].arrivals.count is 1000000000000; expected a number from 0 to 1000000",
        ),
        (
            {"pods": [pods({"bursts": {"every": "1s", "pods": 10**12}})]},
            "w.yaml: pods[0].arrivals.bursts.pods is 1000000000000; expected a number from 0 to 1000000",
        ),
        ({"objects": [{"kind": "Pody", "apiVersion": "v1"}]}, "w.yaml: objects[0]:"),
    ],
)
def test_what_is_wrong_is_told_with_its_field(document: dict[str, Any], why: str) -> None:
    with pytest.raises(KubeschedError) as raised:
        events(a_workload(**document))
    assert str(raised.value).startswith(why)
