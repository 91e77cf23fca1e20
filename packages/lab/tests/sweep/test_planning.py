"""Plans: which runs a specification amounts to, and what is wrong with it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.errors import KubeschedError
from kubesched_lab.sweep.preparing import check, prepare
from kubesched_lab.sweep.runs import SweepRun

WEIGHT = "profiles[0].plugins.score.enabled[NodeResourcesFit].weight"
NODES = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": {"cpu": "1"}}}


def runs(path: str, *, timeline: bool = False) -> list[SweepRun]:
    prepared = prepare(path, timeline=timeline)
    found = prepared.plan()
    check(prepared.setup, found)
    return found


def test_runs_are_the_product_of_all_that_is_varied(write_sweep: Any) -> None:
    path = write_sweep(
        configurations=["a.yaml", {"name": "b", "set": {WEIGHT: [1, 5]}}],
        nodes=[0.5, {"pool": 7}],
        set={"pods[web].arrivals.rate": [1, 2]},
        seeds="1-2",
    )
    Path("a.yaml").write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    found = runs(path)
    assert len(found) == len({run.id for run in found}) == len({run.name for run in found}) == 3 * 2 * 2 * 2
    assert found[0].name == "tiny, a, nodes 0.5, web.rate=1, seed 1"
    assert found[-1].name == "tiny, b, NodeResourcesFit.weight=5, nodes pool=7, web.rate=2, seed 2"
    assert found[-1].label.columns["config.NodeResourcesFit.weight"] == 5
    # runs that share a trace follow each other
    assert [run.label.seed for run in found[:4]] == [1, 2, 1, 2]


def test_a_sweep_of_nothing_but_a_trace_is_one_run(write_sweep: Any) -> None:
    assert [run.name for run in runs(write_sweep())] == ["tiny, default, seed 0"]


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({}, True),
        ({"seeds": [1, 3]}, True),
        ({"traces": {"other name": "tiny.yaml"}}, True),
        ({"until": "20s"}, False),
        ({"warmUp": "5s"}, False),
        ({"pace": {"bindingTime": "1s"}}, False),
        ({"pace": {"attemptTime": "1ms"}}, False),
        ({"nodes": [2]}, False),
        ({"set": {"pods[0].cpu": "2"}}, False),
        ({"configurations": [{"set": {WEIGHT: 3}}]}, False),
        ({"featureGates": {"GenericWorkload": True}}, False),
    ],
)
def test_an_id_is_that_of_all_that_figures_depend_on(write_sweep: Any, fields: dict[str, Any], same: bool) -> None:
    [one] = runs(write_sweep(seeds=1))
    other = runs(write_sweep(**{"seeds": 1, **fields}))[0]
    assert (one.id == other.id) is same


def test_a_changed_input_changes_the_id(write_sweep: Any) -> None:
    [one] = runs(write_sweep())
    Path("tiny.yaml").write_text(Path("tiny.yaml").read_text() + "\n")
    [other] = runs(write_sweep())
    assert one.id != other.id
    [with_timeline] = runs(write_sweep(), timeline=True)
    assert with_timeline.id != other.id


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kind": "Workload"}, "sweep.yaml: kind is Workload; expected Sweep in simulate.kubesched.io/v1alpha1"),
        ({"apiVersion": "v2"}, "sweep.yaml: apiVersion is v2; expected simulate.kubesched.io/v1alpha1"),
        ({"sedes": 1}, "sweep.yaml: Object contains unknown field `sedes`"),
        ({"traces": []}, "sweep.yaml: traces: expected at least one file"),
        ({"traces": "tiny.yaml"}, "sweep.yaml: Expected `object | array`, got `str` - at `$.traces`"),
        ({"traces": ["none.yaml"]}, "sweep.yaml: traces: none: none.yaml: No such file or directory"),
        ({"traces": {"a": []}}, "sweep.yaml: traces: a has no file"),
        ({"traces": ["tiny.yaml", "tiny.yaml"]}, "sweep.yaml: traces: two traces are named tiny"),
        ({"configurations": []}, "sweep.yaml: configurations: expected at least one"),
        ({"configurations": ["none.yaml"]}, "sweep.yaml: configurations[0]: none.yaml: No such file or directory"),
        (
            {"configurations": [{"file": "tiny.yaml", "inline": {}}]},
            "sweep.yaml: configurations[0]: expected `file` or",
        ),
        ({"configurations": [{"inline": {}}]}, "sweep.yaml: configurations[0]: a configuration with `inline` needs a"),
        ({"configurations": [{}, {}]}, "sweep.yaml: configurations[1]: two configurations are named default"),
        ({"configurations": [{"sett": {}}]}, "sweep.yaml: Object contains unknown field `sett` - at `$.configurations"),
        ({"configurations": [{"set": {"a[": 1}}]}, "sweep.yaml: configurations: default: set: 'a[' is not a path"),
        ({"configurations": [{"set": {WEIGHT: []}}]}, f"sweep.yaml: configurations: default: set: {WEIGHT}: expected"),
        ({"configurations": [{"set": {WEIGHT: "heavy"}}]}, "configuration default: "),
        ({"configurations": [{"set": {"profile[0].plugins": 1}}]}, "configuration default: "),
        ({"seeds": "5-1"}, "sweep.yaml: seeds: '5-1' is not a list of seeds such as 1, 1-5 or 1,2,7"),
        ({"seeds": "1-999999999"}, "sweep.yaml: seeds: '1-999999999' has 999999999 seeds; expected at most 100000"),
        ({"seeds": "9" * 30}, "sweep.yaml: seeds: 999999999999999999999999999999 is too large; expected numbers below"),
        ({"nodes": [0]}, "sweep.yaml: nodes[0]: expected a factor such as 0.5, or counts of pools"),
        ({"nodes": [1, {"pool": -1}]}, "sweep.yaml: nodes[1]: expected a factor"),
        ({"nodes": [{"m": 1}]}, "sweep.yaml: trace tiny: nodes: there is no pool named m; the pools are pool"),
        ({"set": {"pods[job].cpu": 1}}, "sweep.yaml: trace tiny: pods[job].cpu: there is no item named job"),
        ({"set": {"pods[0].cup": 1}}, "tiny.yaml: Object contains unknown field `cup` - at `$.pods[0]`"),
        ({"set": {"pods[0].cpu": ["1", "much"]}}, "tiny.yaml: pods[0].cpu: cannot read 'much'"),
        (
            {"traces": ["nodes.yaml"], "set": {"until": "1h"}},
            "sweep.yaml: trace nodes: set: until is for traces with one",
        ),
        ({"until": "soon"}, "sweep.yaml: until: 'soon' is not a duration such as 30s or 2h"),
        ({"until": "1m", "warmUp": "2m"}, "sweep.yaml: warmUp: the warm-up is as long as the simulation"),
        ({"pace": {"bindingTime": -1}}, "sweep.yaml: pace.bindingTime: -1"),
        ({"pace": {"attemptTime": -1}}, "sweep.yaml: pace.attemptTime: -1"),
        ({"featureGates": {"NoSuchGate": True}}, "configuration default: unrecognized feature gate: NoSuchGate"),
        ({"speed": [1, 0]}, "sweep.yaml: speed: expected a number above 0, or a list of numbers"),
        ({"speed": []}, "sweep.yaml: speed: expected a number above 0"),
        ({"durations": "some"}, "sweep.yaml: Invalid enum value 'some' - at `$.durations`"),
        ({"plugins": ["none.py"]}, "sweep.yaml: plugins[0]: none.py: No such file or directory"),
        (
            {"seeds": "1-90000", "set": {"until": list(range(1, 20))}},
            "sweep.yaml: the sweep has 1710000 runs; expected at most",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_field(write_sweep: Any, fields: dict[str, Any], why: str) -> None:
    path = write_sweep(**fields)
    Path("nodes.yaml").write_text(yaml.safe_dump(NODES))
    with pytest.raises(KubeschedError) as raised:
        runs(path)
    assert str(raised.value).startswith(why)
