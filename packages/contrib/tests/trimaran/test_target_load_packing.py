"""TargetLoadPacking: scores by measured and predicted CPU."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from packages.contrib.tests.looking_up import built, run, scores
from packages.contrib.tests.trimaran.loads import WATCHER, a_metric, watched

from kubesched import PluginError, Registry, build_engine
from kubesched.testing import FakeHttp, a_cluster, a_container, a_node, a_pod, check_plugin
from kubesched_contrib.trimaran import TargetLoadPacking
from kubesched_contrib.trimaran.node_loads import from_load_watcher
from kubesched_contrib.trimaran.target_load_packing import TargetLoadPackingArgs

NO_CPU = a_pod("p", containers=[a_container(limits={"cpu": "0"})])


def args(**more: Any) -> TargetLoadPackingArgs:
    return TargetLoadPackingArgs(watcher_address=WATCHER, **more)


def placed(name: str, at: float, node: str = "n1", **more: Any) -> Any:
    """Return a pod that came to its node at a Unix time."""
    when = datetime.fromtimestamp(at, UTC).isoformat()
    status = {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": when}]}
    return a_pod(name, node=node, status=msgspec.convert(status, type(a_pod().status)), **more)


@pytest.mark.parametrize(
    ("used", "target", "score"),
    [
        pytest.param(25, 50, 75, id="below the target: the more, the better"),
        pytest.param(50, 50, 100, id="at the target"),
        pytest.param(75, 50, 25, id="beyond it: the more, the worse"),
        pytest.param(100, 50, 0, id="full"),
        pytest.param(130, 50, 0, id="more than full"),
        pytest.param(0, 40, 40, id="idle"),
        pytest.param(100, 100, 100, id="a target of all"),
        pytest.param(101, 100, 0, id="more than a target of all"),
        pytest.param(33, 40, 90, id="rounded half up: 89.5"),
    ],
)
def test_a_node_is_packed_up_to_the_target(used: float, target: int, score: int) -> None:
    cluster = a_cluster(a_node("n1", cpu="4"))
    http = FakeHttp({f"{WATCHER}/watcher": watched(n1=[a_metric("CPU", used)])})
    plugin, background = built(TargetLoadPacking, args(target_utilization=target), cluster, http)
    run(background.look_up())
    assert scores(plugin, cluster, NO_CPU) == {"n1": score}


@pytest.mark.parametrize(
    ("containers", "used"),
    [
        pytest.param([a_container(cpu="1", limits={"cpu": "2"})], 50, id="a limit counts as it is"),
        pytest.param([a_container(cpu="1")], 37.5, id="a request counts one and a half times"),
        pytest.param([a_container()], 25, id="a container without both counts as a core"),
        pytest.param([a_container("a"), a_container("b", cpu="1")], 62.5, id="containers are summed"),
    ],
)
def test_what_a_pod_is_predicted_to_use(containers: list[Any], used: float) -> None:
    cluster = a_cluster(a_node("n1", cpu="4"))
    http = FakeHttp({f"{WATCHER}/watcher": watched(n1=[a_metric("CPU", 0)])})
    plugin, background = built(TargetLoadPacking, args(target_utilization=80), cluster, http)
    run(background.look_up())
    pod = a_pod("p", containers=containers)
    assert plugin.score_key(cluster.reader.read(pod)) == used * 40
    assert scores(plugin, cluster, pod) == {"n1": int(0.25 * used + 80.5)}


def test_pods_that_came_too_late_to_be_measured_are_predicted() -> None:
    cluster = a_cluster(
        a_node("n1", cpu="4"),
        a_node("n2", cpu="4"),
        placed("measured", 939, containers=[a_container(limits={"cpu": "1"})]),
        a_pod("started long ago", node="n1", cpu="1", start="1970-01-01T00:00:00Z"),
        placed("just before", 941, containers=[a_container(limits={"cpu": "1"})]),
        placed("after", 1500, node="n2", containers=[a_container(limits={"cpu": "2"})]),
    )
    answers = {f"{WATCHER}/watcher": watched(1000, n1=[a_metric("CPU", 0)], n2=[a_metric("CPU", 0)])}
    http = FakeHttp(lambda url: answers[url])
    plugin, background = built(TargetLoadPacking, args(target_utilization=50), cluster, http)
    run(background.look_up())
    assert scores(plugin, cluster, NO_CPU) == {"n1": 75, "n2": 100}
    assumed = cluster.assume(cluster.reader.read(a_pod("assumed", cpu="1")), "n1")
    assert scores(plugin, cluster, NO_CPU) == {"n1": 38, "n2": 100}, "62.5 percent"
    cluster.forget(assumed)
    answers[f"{WATCHER}/watcher"] = watched(1600, n1=[a_metric("CPU", 0)], n2=[a_metric("CPU", 0)])
    run(background.look_up())
    assert scores(plugin, cluster, NO_CPU) == {"n1": 50, "n2": 50}, "all of them are measured"


def test_a_node_that_is_not_measured_scores_0() -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"), a_node("n3"))
    only = [a_metric("Memory", 50), a_metric("CPU", 5, "STD")]
    plugin, background = built(
        TargetLoadPacking,
        args(),
        cluster,
        FakeHttp({f"{WATCHER}/watcher": watched(n1=[a_metric("CPU", 5, "Latest")], n2=only)}),
    )
    assert scores(plugin, cluster, NO_CPU) == {"n1": 0, "n2": 0, "n3": 0}, "before the first look-up"
    run(background.look_up())
    assert scores(plugin, cluster, NO_CPU) == {"n1": 48, "n2": 0, "n3": 0}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"targetUtilization": 0}, "args: targetUtilization: must be between 1 and 100, got 0"),
        ({"defaultRequests": {"cpu": "much"}}, "args: defaultRequests.cpu: "),
        ({"defaultRequestsMultiplier": "twice"}, "write a number of at least 0 in quotes"),
        ({"defaultRequestsMultiplier": 2}, "args.defaultRequestsMultiplier: expected `str`, got `int`"),
        ({"metricProvider": {"type": "SignalFx"}}, "SignalFx is not supported; run load-watcher with SignalFx"),
        ({"metricProvider": {"type": "Datadog"}}, "args.metricProvider.type: invalid enum value 'Datadog'"),
        (
            {"metricProvider": {"adress": "x"}},
            "args.metricProvider.adress: there is no such field; did you mean address",
        ),
        ({"watcherAddress": "load-watcher:2020"}, "args: watcherAddress: write the address as http://host:port"),
        ({"watcherAddress": "http://me:hunter2@[x"}, "args: watcherAddress: write the address as http://host:port"),
        ({"kind": "PackingArgs"}, "args.kind: expected TargetLoadPackingArgs"),
    ],
)
def test_wrong_arguments_are_told_at_start_without_secrets(written: dict[str, Any], words: str) -> None:
    registry = Registry()
    registry.register(TargetLoadPacking)
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {"multiPoint": {"enabled": [{"name": "TargetLoadPacking"}]}},
                "pluginConfig": [{"name": "TargetLoadPacking", "args": written}],
            }
        ],
    }
    with pytest.raises(PluginError) as caught:
        build_engine(msgspec.json.encode(config).decode(), registry=registry)
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)


class Loaded(TargetLoadPacking):
    """With the load of some nodes, from the start."""

    def __init__(self, args: TargetLoadPackingArgs, cluster: Any, background: Any, log: Any, metrics: Any) -> None:
        loads = watched(**{f"n{number}": [a_metric("CPU", 7.0 * number)] for number in range(9)})
        super().__init__(args, cluster, background, FakeHttp({}), log, metrics)
        self._loads.assign(from_load_watcher(loads))


def test_it_holds_to_the_contract() -> None:
    assert check_plugin(Loaded, examples=20, speed=False)
