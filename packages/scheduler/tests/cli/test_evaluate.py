"""`kubesched evaluate`: lines in, answers out; bad lines are named and the others still run."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "pods": "9"}},
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default", "uid": "u"},
    "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "image": "i"}]},
}
SCENARIO: dict[str, Any] = {"name": "one", "objects": [NODE, POD], "pods": ["default/p"]}


def run(*arguments: str, lines: list[Any] = ()) -> Result:  # type: ignore[assignment]
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return CliRunner().invoke(main, ["evaluate", *arguments], input=text)


def test_a_scenario_on_standard_input_gets_one_line_of_json() -> None:
    result = run(lines=[SCENARIO])
    assert result.exit_code == 0, result.output
    answered = json.loads(result.stdout)
    assert answered["results"][0]["chosen"] == "n1"


def test_answers_come_in_the_order_of_the_lines_and_expected_is_ignored() -> None:
    result = run(lines=[{"input": "1500m", "expected": "nonsense"}, SCENARIO, {"input": "2Ki"}])
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert (first["milliValue"], third["value"]) == (1500, 2048)
    assert second["results"][0]["pod"] == "default/p"


def test_check_ends_with_the_count_and_names_what_differs() -> None:
    right = json.loads(run(lines=[SCENARIO]).stdout)
    wrong = json.loads(json.dumps(right))
    wrong["results"][0]["raw"]["TaintToleration"]["n1"] = 7
    result = run("--check", lines=[{**SCENARIO, "expected": right}, {**SCENARIO, "expected": wrong}])
    assert result.exit_code == 1
    *differences, count = result.stdout.splitlines()
    assert count == "1 passed, 1 failed"
    assert differences == ["<stdin>:2: one: default/p: raw TaintToleration n1: expected 7, got 0"]


def test_check_with_no_difference_exits_with_zero() -> None:
    right = json.loads(run(lines=[SCENARIO]).stdout)
    result = run("--check", lines=[{**SCENARIO, "expected": right}])
    assert (result.exit_code, result.stdout) == (0, "1 passed, 0 failed\n")


def test_files_are_read_packed_or_not(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_text(json.dumps({"input": "1"}) + "\n\n")
    packed.write_bytes(gzip.compress(json.dumps({"input": "2"}).encode()))
    result = run(str(plain), str(packed))
    assert [json.loads(line)["value"] for line in result.stdout.splitlines()] == [1, 2]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        pytest.param("{", "not a line of JSON", id="a torn line is no JSON"),
        pytest.param("[1]", "expected a JSON object", id="a list is no question"),
        pytest.param({"what": 1}, "no question has these fields: what", id="a question nobody asks"),
        pytest.param({"kind": "Pod"}, "put it under `objects`", id="an object is no question"),
        pytest.param({**SCENARIO, "pods": "p"}, "pods: Expected `array", id="pods must be a list"),
        pytest.param(
            {"pods": ["default/p"], "objects": [{**POD, "metadata": {"name": "p"}}]},
            "default/p is not among the objects; pods among them: p; give pods their metadata.namespace",
            id="a pod without a namespace",
        ),
        pytest.param({**SCENARIO, "pods": ["default/q"]}, "default/q is not among the objects", id="an unknown pod"),
        pytest.param(
            {**SCENARIO, "pods": ["group:default/g"]},
            "group:default/g: neither the group nor a pod of it is among the objects",
            id="an unknown pod group",
        ),
        pytest.param({**SCENARIO, "objects": [7]}, "objects[0]: Expected `object", id="an object that is a number"),
        pytest.param({**SCENARIO, "objects": [{"kind": "Pod"}]}, "apiVersion", id="an object without apiVersion"),
        pytest.param(
            {**SCENARIO, "objects": [NODE, {**POD, "spec": {"containers": [{"name": 3}]}}]},
            "Pod default/p: spec.containers[0].name: expected a string",
            id="a field of the wrong type names object and field",
        ),
        pytest.param(
            {
                **SCENARIO,
                "objects": [
                    NODE,
                    {**POD, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "lots"}}}]}},
                ],
            },
            "lots",
            id="a quantity that is none",
        ),
        pytest.param({**SCENARIO, "featureGates": {"NoSuchGate": True}}, "NoSuchGate", id="an unknown gate"),
        pytest.param({"table": "nope", "input": {}}, "nope", id="an unknown table"),
        pytest.param(
            {"table": "backoff", "input": {}}, "missing required field", id="a table's input without its fields"
        ),
        pytest.param({"toleration": {}, "name": "x"}, "missing field 'taints'", id="a toleration without taints"),
        pytest.param({"plugin": "NodeName", "pods": 1}, "pods", id="a hint line of the wrong shape"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_others_still_run(line: Any, named: str) -> None:
    result = run(lines=[{"input": "1"}, line, {"input": "2"}])
    assert result.exit_code == 1
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert (first["value"], third["value"]) == (1, 2)
    assert second["error"].startswith("line 2: ")
    assert named in second["error"]
    assert "Traceback" not in result.output


def test_a_line_that_cannot_be_read_counts_as_failed_in_check() -> None:
    result = run("--check", lines=["{", {"input": "1"}])
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "0 passed, 2 failed"


@pytest.mark.parametrize("content", [b"\x1f\x8bjunk", b"not packed"])
def test_a_packed_file_that_is_broken_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(content)
    result = run(str(broken))
    assert result.exit_code == 1
    assert f"{broken}: cannot be read" in result.output


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    result = run(str(tmp_path / "missing.jsonl"))
    assert result.exit_code == 1
    assert "missing.jsonl: cannot be read" in result.output


def test_a_line_without_an_end_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.cli.evaluate.LONGEST_LINE", 1 << 20)
    result = run("/dev/zero")
    assert (result.exit_code, result.output) == (1, "/dev/zero:1: longer than 1 MiB\n")


def test_that_nothing_is_selected_is_an_error() -> None:
    result = run("--check", "--only", "nobody", lines=[{"name": "somebody", "input": "1"}])
    assert (result.exit_code, result.stderr) == (1, "--only nobody: no line has a name that contains it\n")


def test_only_selects_by_name() -> None:
    result = run("--only", "tw", lines=[{**SCENARIO, "name": "one"}, {**SCENARIO, "name": "two"}])
    assert len(result.stdout.splitlines()) == 1


def test_only_leaves_a_line_that_cannot_be_read_to_be_named() -> None:
    result = run("--only", "tw", lines=['{"name": "two', {**SCENARIO, "name": "two"}])
    first, second = map(json.loads, result.stdout.splitlines())
    assert "line 1: not a line of JSON" in first["error"]
    assert second["results"][0]["pod"] == "default/p"


def test_pods_without_a_uid_all_count() -> None:
    bare: dict[str, Any] = {
        **POD,
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {**POD["spec"], "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]},
    }
    placed = [
        {**bare, "metadata": {"name": name, "namespace": "default"}, "spec": {**bare["spec"], "nodeName": "n1"}}
        for name in ("a", "b")
    ]
    result = run(lines=[{"objects": [NODE, bare, placed[0], placed[1]], "pods": ["default/p"]}])
    assert "Insufficient cpu" in json.loads(result.stdout)["results"][0]["message"]


def test_weights_beyond_what_small_columns_hold_are_multiplied_out() -> None:
    config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: default-scheduler\n  plugins:\n    score:\n"
        "      disabled: [{name: NodeResourcesFit}]\n      enabled: [{name: NodeResourcesFit, weight: 70000}]\n"
    )
    verdict = json.loads(run(lines=[{**SCENARIO, "config": config}]).stdout)["results"][0]
    raw, final = (verdict[field]["NodeResourcesFit"]["n1"] for field in ("raw", "scores"))
    assert raw > 0
    assert final == 70000 * raw


def test_out_of_tree_plugins_take_part(tmp_path: Path) -> None:
    file = tmp_path / "picky.py"
    file.write_text(
        "from kubesched import filter_plugin, unschedulable\n"
        "@filter_plugin('Picky')\n"
        "def picky(pod, node):\n"
        "    return unschedulable('node(s) not to my taste')\n"
    )
    config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: default-scheduler\n  plugins:\n    filter:\n      enabled:\n      - name: Picky\n"
    )
    result = run("--plugin", str(file), lines=[{**SCENARIO, "config": config}])
    verdict = json.loads(result.stdout)["results"][0]
    assert verdict["unschedulablePlugins"] == ["Picky"]
    assert verdict["message"].startswith("0/1 nodes are available: 1 node(s) not to my taste.")


# -- a cluster as kubectl writes it


DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {}}
LIST = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [NODE, DEPLOYMENT, {"kind": "PodList", "apiVersion": "v1", "items": [POD]}],
}


def chosen(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    (answered,) = map(json.loads, result.stdout.splitlines())
    assert [each["chosen"] for each in answered["results"]] == ["n1"]
    return answered


def test_lists_are_taken_apart_and_kinds_that_scheduling_does_not_read_are_counted() -> None:
    answered = chosen(run(lines=[{"objects": [LIST], "pods": ["default/p"]}]))
    assert answered["ignored"] == {"Deployment": 1}


@pytest.mark.parametrize("config", [{"percentageOfNodesToScore": 100}, "percentageOfNodesToScore: 100"])
def test_a_configuration_is_an_object_or_a_text(config: Any) -> None:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    whole = (
        {**head, **config}
        if isinstance(config, dict)
        else "\n".join(f"{k}: {v}" for k, v in head.items()) + f"\n{config}"
    )
    chosen(run(lines=[{**SCENARIO, "config": whole}]))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cluster.yaml", yaml.safe_dump(LIST)),
        ("cluster.yml", yaml.safe_dump_all([NODE, DEPLOYMENT, POD])),
        ("cluster.json", json.dumps(LIST, indent=2)),
        ("scenario.yaml", yaml.safe_dump(SCENARIO)),
        ("line.json", json.dumps(SCENARIO)),
    ],
)
def test_a_file_is_one_question_where_it_has_no_lines(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    chosen(run(str(tmp_path / name)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (yaml.safe_dump(NODE), "every pod in it has a node"),
        ("a: b: c", "document 1: yaml: line 1"),
        ("", "nothing to judge"),
    ],
)
def test_a_file_that_asks_nothing_is_one_sentence(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(content)
    result = run(str(tmp_path / "x.yaml"))
    assert (result.exit_code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert words in line


def test_objects_of_kinds_that_plugins_look_up_are_there(tmp_path: Path) -> None:
    (tmp_path / "loads.py").write_text(
        "from kubesched import FilterPlugin, unschedulable\n"
        "KIND = 'nodeloads.v1.example.com'\n"
        "class Loads(FilterPlugin):\n"
        "    name = 'Loads'\n"
        "    looks_up = (KIND,)\n"
        "    def __init__(self, cluster):\n"
        "        self.cluster = cluster\n"
        "    def filter(self, cycle, pod, node):\n"
        "        busy = {load.name for load in self.cluster.all(KIND) if load.usage['cpu'] > 80}\n"
        "        return unschedulable('node(s) were busy') if node.name in busy else None\n"
    )
    load = {"apiVersion": "example.com/v1", "kind": "NodeLoad", "metadata": {"name": "n1"}, "usage": {"cpu": 90}}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Loads"}]}}}],
    }
    scenario = {"objects": [NODE, POD, load], "pods": ["default/p"], "config": config}
    result = run("--plugin", str(tmp_path / "loads.py"), lines=[scenario])
    answered = json.loads(result.stdout)
    assert "1 node(s) were busy" in answered["results"][0]["message"]
    assert "ignored" not in answered
