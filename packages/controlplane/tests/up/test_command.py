"""`kubesched up`: real processes that place pods and end, or stay until they are told to; and bad input."""

import asyncio
import fcntl
import os
import pty
import re
import signal
import ssl
import stat
import struct
import subprocess
import sys
import termios
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pytest
import yaml
from click.testing import CliRunner, Result
from rich.table import Table
from tests.support.processes import eventually

from kubesched.cli import main
from kubesched_controlplane.up.display import fits
from kubesched_controlplane.up.help import EXPORT

QUICKSTART = Path(__file__).parents[4] / "examples" / "quickstart"
# for processes on a machine that has much else to do
SECONDS = 120.0
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: CPU}}}]}
"""


def a_pod(name: str, cpu: str = "100m") -> str:
    return POD.replace("NAME", name).replace("CPU", f'"{cpu}"')


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kubesched", *arguments]


def ran(*arguments: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Return the result of a process that ends without a signal."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=SECONDS, input=given)


def tried(*arguments: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Return the result of `kubesched try` in a process."""
    return ran("try", *arguments, given=given)


def invoked(*arguments: str, given: str | None = None) -> Result:
    """Return the result of a command line, run in this process."""
    return CliRunner().invoke(main, arguments, input=given)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "manifest.yaml"
    file.write_text("---\n".join((NODE, a_pod("web"), a_pod("giant", "5"))))
    return file


# -- once


@pytest.fixture(autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the names of clusters be those of this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def test_the_quickstart_is_placed_and_the_process_ends() -> None:
    process = tried(str(QUICKSTART))
    assert (process.returncode, process.stderr) == (3, ""), "a pod is unschedulable"
    lines = process.stdout.splitlines()
    assert lines[0].split() == ["NAMESPACE", "POD", "NODE", "STATUS", "REASON"]
    rows = {line.split()[1]: line.split(maxsplit=4)[2:] for line in lines[1 : lines.index("")]}
    assert len(rows) == 19
    assert Counter(row[1] for row in rows.values()) == {"Running": 14, "Succeeded": 4, "Unschedulable": 1}
    assert rows["train-big"] == ["node-b-gpu", "Running"]
    node, status, reason = rows["giant"]
    assert (node, status) == ("-", "Unschedulable")
    assert reason.startswith("0/12 nodes are available: 3 node(s) had untolerated taint(s), 9 Insufficient cpu.")
    assert all(len(row) == 2 for name, row in rows.items() if name != "giant"), "only who waits has a reason"
    preempted, summary = lines[lines.index("") + 1 :]
    assert preempted.startswith("Preempted: default/batch-")
    assert preempted.endswith(f" had to leave {rows['urgent'][0]} for default/urgent.")
    assert summary == "12 nodes, 19 pods: 14 bound, 4 succeeded, 1 unschedulable, 1 preempted."
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.slow
def test_programs_get_json(manifest: Path) -> None:
    process = tried("-o", "json", str(manifest))
    assert (process.returncode, process.stderr) == (3, "")
    document = msgspec.json.decode(process.stdout)
    reason = document["pods"][0].pop("reason")
    assert reason.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    both = {"namespace": "default", "nominatedNode": "", "owner": ""}
    waiting = {**both, "name": "giant", "status": "Unschedulable", "node": ""}
    running = {**both, "name": "web", "status": "Running", "node": "n1"}
    assert document == {
        "settled": True,
        "nodes": 1,
        "pods": [waiting, {**running, "reason": ""}],
        "preempted": [],
        "unschedulable": 1,
    }


@pytest.mark.slow
def test_manifests_come_from_standard_input_too(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(NODE)
    process = tried("-o", "json", "-", str(tmp_path), given=a_pod("web"))
    assert [pod["node"] for pod in msgspec.json.decode(process.stdout)["pods"]] == ["n1"]


def test_a_configuration_a_plugin_and_delays_count(manifest: Path, tmp_path: Path) -> None:
    (tmp_path / "picky.py").write_text(
        "from kubesched.core.framework.building.functions import filter_plugin\n"
        "from kubesched.core.framework.values.status import unschedulable\n"
        "@filter_plugin('Picky')\n"
        "def picky(pod, node):\n"
        "    return unschedulable('node(s) too plain')\n"
    )
    config = tmp_path / "config.yml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {multiPoint: {enabled: [{name: Picky}]}}}]\n"
    )
    chosen = ("--config", str(config), "--plugin", str(tmp_path / "picky.py"), "--delay", "node-ready=100ms")
    process = tried("-o", "json", *chosen, "--seed", "7", str(manifest))
    assert process.returncode == 3, process.stderr
    reasons = {pod["name"]: pod["reason"] for pod in msgspec.json.decode(process.stdout)["pods"]}
    assert "1 node(s) too plain" in reasons["web"]


@pytest.mark.slow
def test_what_does_not_settle_in_time_is_an_error_that_says_what_is_under_way() -> None:
    process = tried("--delay", "termination=10m", "--timeout", "6s", str(QUICKSTART))
    assert process.returncode == 1
    assert process.stdout.startswith("NAMESPACE"), "how things stand is shown all the same"
    assert "(nominated to node-" in process.stdout
    assert process.stderr.startswith("the cluster has not settled within 6s (--timeout): pod default/batch-")
    assert process.stderr.count("\n") == 1
    # in a process of its own, which a loop that does not end in time would end
    process = tried("-o", "json", "--delay", "node-ready=10m", "--timeout", "6s", str(QUICKSTART))
    assert msgspec.json.decode(process.stdout)["settled"] is False


def test_nodes_need_no_manifests(tmp_path: Path) -> None:
    file = tmp_path / "pods.yaml"
    gpu = a_pod("trainer").replace('{cpu: "100m"}', '{nvidia.com/gpu: "1"}, limits: {nvidia.com/gpu: "1"}')
    elsewhere = a_pod("picky").replace("spec: {", "spec: {nodeSelector: {kubesched.io/pool: large}, ")
    file.write_text("---\n".join((gpu, elsewhere, a_pod("giant", "9"))))
    pool = "name=large,nodes=1,taint=example.com/own:NoSchedule,label=example.com/disk=fast"
    process = tried("-o", "json", "--nodes", "6", "--cpu", "7", "--gpu", "1:1", "--pool", pool, str(file))
    assert (process.returncode, process.stderr) == (3, "")
    document = msgspec.json.decode(process.stdout)
    assert document["nodes"] == 7
    pods = {pod["name"]: pod for pod in document["pods"]}
    assert pods["trainer"]["node"] == "node-1"
    assert "1 node(s) had untolerated taint(s)" in pods["picky"]["reason"]
    assert "6 Insufficient cpu" in pods["giant"]["reason"]


@pytest.mark.slow
def test_at_the_speed_of_a_real_cluster_things_take_their_time(manifest: Path) -> None:
    # in processes of their own, which a timeout may end at once
    process = tried("-o", "json", "--speed", "0.001", "--timeout", "6s", str(manifest))
    assert (process.returncode, msgspec.json.decode(process.stdout)["settled"]) == (1, False)
    process = tried("-o", "json", "--speed", "1000", str(manifest))
    assert (process.returncode, msgspec.json.decode(process.stdout)["settled"]) == (3, True)


# -- whatever is under way


ENDLESS = """\
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: endless}
spec:
  replicas: 2147483647
  selector: {matchLabels: {app: endless}}
  template:
    metadata: {labels: {app: endless}}
    spec: {containers: [{name: c, image: i}]}
"""
LOADS = """\
from kubesched import FilterPlugin


class Loads(FilterPlugin):
    name = "Loads"
    looks_up = ("nodeloads.v1.example.com",)

    def filter(self, cycle, pod, node):
        return None
"""
WITH_LOADS = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Loads}]}}}]
"""


@pytest.mark.slow
def test_time_is_up_whatever_controllers_do(tmp_path: Path) -> None:
    (tmp_path / "endless.yaml").write_text(f"{NODE}---\n{ENDLESS}")
    process = tried("--timeout", "6s", "-o", "json", str(tmp_path))
    assert process.returncode == 1
    assert process.stderr.startswith("the cluster has not settled within 6s (--timeout): ")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_whatever_controllers_do(number: int, tmp_path: Path) -> None:
    (tmp_path / "endless.yaml").write_text(f"{NODE}---\n{ENDLESS}")
    with staying(str(tmp_path / "endless.yaml")) as staying_on:
        code, _, _ = staying_on.end(number)
    assert code in (0, 1), "it ended by itself"


@pytest.mark.slow
def test_a_pipe_that_nobody_writes_to_does_not_keep_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = tried("--timeout", "1s", "--nodes", "1", str(tmp_path / "pipe"))
    assert process.returncode == 1
    assert process.stderr == "the cluster has not settled within 1s (--timeout): objects were still being loaded\n"


def test_a_kind_of_a_plugin_that_is_not_served_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "loads.py").write_text(LOADS)
    (tmp_path / "config.yml").write_text(WITH_LOADS)
    chosen = ("--plugin", str(tmp_path / "loads.py"), "--config", str(tmp_path / "config.yml"))
    result = invoked("try", "--nodes", "1", *chosen)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Loads: nodeloads.v1.example.com is looked up, but not served: add its CustomResourceDefinition\n"
    )


def test_a_plugin_that_nobody_enables_is_told(tmp_path: Path) -> None:
    (tmp_path / "loads.py").write_text(LOADS)
    result = invoked("try", "--nodes", "1", "--plugin", str(tmp_path / "loads.py"))
    assert result.exit_code == 0
    assert "no profile enables Loads; enable it in the file of --config:  profiles: [{plugins: " in result.stderr


# -- a command, or in the background


@pytest.mark.slow
def test_a_command_has_a_cluster_for_as_long_as_it_takes(tmp_path: Path) -> None:
    script = "import os, sys; print(open(os.environ['KUBECONFIG']).readline(), end=''); sys.exit(7)"
    process = ran("with-cluster", "--nodes", "1", "--", sys.executable, "-c", script)
    assert process.returncode == 7
    assert process.stdout == "# written by kubesched; replaced when it starts again\n", "the command's own words alone"
    assert ran("with-cluster", "--nodes", "1", "--", str(tmp_path / "none")).returncode == 127


@pytest.mark.slow
def test_a_signal_goes_to_the_command() -> None:
    script = "trap 'echo told; exit 9' TERM; echo waits; while true; do sleep 0.1; done"
    words = command("with-cluster", "--nodes", "1", "--", "sh", "-c", script)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out) == (9, "told\n")


@pytest.mark.slow
def test_in_the_background_it_is_ready_when_the_command_returns() -> None:
    process = ran("up", "--detach", "--name", "behind", "--nodes", "2")
    try:
        assert process.returncode == 0, process.stderr
        export = process.stdout.splitlines()[-1]
        config = Path(export.removeprefix("export KUBECONFIG="))
        nodes = asked(config, "GET", "/api/v1/nodes")["items"]
        ready = [each for node in nodes for each in node["status"]["conditions"] if each["type"] == "Ready"]
        assert [condition["status"] for condition in ready] == ["True", "True"]
        again = ran("up", "--detach", "--name", "behind", "--nodes", "2")
        assert (again.returncode, again.stdout) == (1, "")
        assert "a cluster 'behind' is up already" in again.stderr
    finally:
        ended = ran("up", "down", "behind")
    assert ended.returncode == 0


@pytest.mark.parametrize("mode", [[], ["--detach"]], ids=["in front", "in the background"])
def test_a_state_folder_that_cannot_be_made_is_told(
    mode: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # root may write everywhere, but not below a file
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    result = invoked("up", "--nodes", "1", *mode)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Not a directory; set XDG_STATE_HOME to use another folder" in result.stderr


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    log = tmp_path / "kubesched" / "default.log"
    log.mkdir(parents=True)
    result = invoked("up", "--detach", "--nodes", "1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{log}: Is a directory; set XDG_STATE_HOME to use another folder\n"


# -- a cluster that was brought along


def of_a_cluster(*objects: str) -> str:
    """Return a list of objects as kubectl writes it."""
    items = [yaml.safe_load(text) for text in objects]
    for number, item in enumerate(items):
        item["metadata"]["uid"] = f"uid-{number}"
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})


WORKER = NODE.replace("{name: n1}", "{name: worker, labels: {topology.kubernetes.io/zone: eu-1, kind: metal}}")
IN_EU = a_pod("picky").replace("spec: {", "spec: {nodeSelector: {topology.kubernetes.io/zone: eu-1}, ")


def test_nodes_beside_others_are_like_one_of_them_or_in_no_zone(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    taken = a_pod("taken", "4").replace("spec: {", "spec: {nodeName: worker, ")
    file.write_text(of_a_cluster(WORKER, taken) + "---\n" + IN_EU)
    result = invoked("try", "-o", "json", "--nodes", "3", str(file))
    assert result.exit_code == 3
    assert "the nodes of --nodes have no zone" in result.stderr
    result = invoked("try", "-o", "json", "--nodes", "3", "--like", "worker", str(file))
    assert (result.exit_code, result.stderr) == (0, "")
    pods = {pod["name"]: pod["node"] for pod in msgspec.json.decode(result.stdout)["pods"]}
    assert pods["picky"].startswith("node-")


def test_a_cluster_comes_without_its_namespaces_and_with_kinds_that_nobody_knows(tmp_path: Path) -> None:
    pod = a_pod("web").replace("{name: web}", "{name: web, namespace: shop}").replace("spec: {", "spec: {novelty: 1, ")
    rocket = "{apiVersion: space.example.com/v1, kind: Rocket, metadata: {name: r}}"
    (tmp_path / "cluster.yaml").write_text(of_a_cluster(NODE, pod, rocket))
    result = invoked("try", "--no-controllers", str(tmp_path))
    assert result.exit_code == 0
    warning, made, left_out = result.stderr.splitlines()
    assert warning.startswith("Warning: ")
    assert warning.endswith('Pod "web": unknown field "spec.novelty"')
    assert made == "1 namespace was made for objects that came without."
    assert left_out == "1 object of kinds that are not served here was left out: Rocket 1."


def test_a_file_that_is_not_there_is_told_without_a_count_of_what_no_file_has() -> None:
    result = invoked("try", "missing.yaml")
    assert (result.exit_code, result.stderr) == (1, "missing.yaml: No such file or directory\n")


def test_a_field_that_does_not_exist_is_refused_unless_it_is_wanted(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(a_pod("web").replace("spec: {", "spec: {nodeSelectors: {a: b}, "))
    result = invoked("try", "--nodes", "1", str(file))
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f'{file}: document 1: Pod "web": unknown field "spec.nodeSelectors"',
        "To load objects with unknown fields, use --validate warn.",
        "2 objects could be loaded, 1 problem",
    ]
    result = invoked("try", "--nodes", "1", "--validate", "warn", str(file))
    assert result.exit_code == 0
    assert result.stderr == f'Warning: {file}: document 1: Pod "web": unknown field "spec.nodeSelectors"\n'


def test_claims_find_a_default_class(tmp_path: Path) -> None:
    claim = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
    volume = "spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], "
    (tmp_path / "app.yaml").write_text(claim + "---\n" + a_pod("web").replace("spec: {", volume))
    assert invoked("try", "--nodes", "1", str(tmp_path)).exit_code == 0


# -- bad input


BROKEN = "apiVersion: v1\nkind: Pod\nmetadata: {name: broken}\nspec: {containers: []}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("a: b: c", ["FILE: document 1: ", "line 1"], id="no YAML"),
        pytest.param(f"{NODE}---\n{BROKEN}", ["FILE: document 2: Pod", "broken", "spec.containers"], id="invalid"),
        pytest.param("kind: Pod", ["FILE: document 1: Pod", "apiVersion is not set"], id="incomplete"),
        pytest.param("apiVersion: v1\nkind: Pot\n", ["FILE: document 1: Pot", "no matches for kind"], id="unknown"),
        pytest.param("[]", ["FILE: document 1: an object was expected"], id="a list"),
    ],
)
def test_a_manifest_that_cannot_be_loaded_is_named(text: str, words: list[str], tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    result = invoked("try", str(file))
    assert result.exit_code == 1
    problem, *others = result.stderr.splitlines()
    for word in words:
        assert word.replace("FILE", str(file)) in problem
    # how many could be loaded, where there are objects
    assert len(others) == ("kind" in text)
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["FOLDER"], 1, "no files that end in .yaml, .yml, .json", id="an empty folder"),
        pytest.param(["FOLDER/none.yaml"], 1, "FOLDER/none.yaml: No such file", id="no such file"),
        pytest.param([], 1, "there are no nodes", id="nothing at all"),
        pytest.param(["MANIFEST", "--config", "MANIFEST"], 1, "--config MANIFEST: kind:", id="no configuration"),
        pytest.param(["MANIFEST", "--config", "FOLDER/none"], 1, "FOLDER/none: No such file", id="no such config"),
        pytest.param(["MANIFEST", "--feature-gates", "Nope=true"], 1, "Nope", id="no such gate"),
        pytest.param(["MANIFEST", "--plugin", "no_such:Thing"], 1, "no_such", id="no such plugin"),
        pytest.param(["MANIFEST", "--timeout", "soon"], 2, "'soon' is not a duration such as 30s", id="no duration"),
        pytest.param(["MANIFEST", "--delay", "pod-strat=1s"], 2, "one of node-ready, heartbeat, ", id="no such delay"),
        pytest.param(["MANIFEST", "--delay", "pod-start=-1s"], 2, "'-1s' is not a duration", id="a delay below zero"),
        pytest.param(["--config", "-", "-"], 2, "not both", id="standard input twice"),
        pytest.param(["MANIFEST", "--data", ""], 2, "'--data': is empty; give the path of a folder", id="no folder"),
        pytest.param(["up", "MANIFEST", "--"], 2, "missing command after --", id="no command"),
        pytest.param(["with-cluster", "MANIFEST"], 2, "missing command: kubesched with-cluster", id="only a cluster"),
        pytest.param(
            ["up", "-o", "json"], 2, "-o is an option of `kubesched try`", id="a table of a cluster that stays"
        ),
        pytest.param(["up", "--no-serve", "--port", "1"], 2, "serves: leave --no-serve out", id="a port of no server"),
        pytest.param(["up", "--once", "--", "true"], 2, "-- COMMAND and --once", id="a command, once"),
        pytest.param(["up", "--detach", "--once"], 2, "--detach and --once", id="in the background, once"),
        pytest.param(
            ["up", "--detach", "--no-serve"], 2, "--no-serve exclude each other", id="in the background, without a door"
        ),
        pytest.param(
            ["up", "--detach", "--", "true"], 2, "-- COMMAND exclude each other", id="a command in the background"
        ),
        pytest.param(["--nodes", "1", "--like", "A b"], 2, "'A b': expected the name of a node", id="no node's name"),
        pytest.param(["--nodes", "1", "--like", "x"], 2, "there is no node 'x'", id="like no node that is there"),
        pytest.param(["MANIFEST", "--validate", "no"], 2, "'--validate': 'no' is not one of", id="no validation"),
        pytest.param(["MANIFEST", "--port", "1"], 2, "--port needs a cluster that serves: add --serve", id="no door"),
        pytest.param(["MANIFEST", "--kubeconfig", "x"], 2, "--kubeconfig needs a cluster that serves", id="no key"),
        pytest.param(["MANIFEST", "-o", "yaml"], 2, "'table', 'json'", id="no such output"),
        pytest.param(["--nodes", "many"], 2, "'--nodes': 'many': expected a number from 1 to 100000", id="no number"),
        pytest.param(["--nodes", "0"], 2, "'--nodes': '0': expected a number from 1", id="no nodes"),
        pytest.param(["--nodes", "9" * 30], 2, "'--nodes': '999", id="too many nodes"),
        pytest.param(["--nodes", "2", "--zones", "-1"], 2, "'--zones': '-1': expected", id="less than no zones"),
        pytest.param(["--nodes", "2", "--cpu", "1e30"], 2, "'--cpu': '1e30': expected a quantity", id="too many CPUs"),
        pytest.param(["--nodes", "2", "--memory", "32"], 2, "1Pi, such as 32Gi", id="memory without a unit"),
        pytest.param(["--nodes", "2", "--memory", "32GB"], 2, "'32GB': expected a quantity", id="no such unit"),
        pytest.param(["--nodes", "2", "--gpu", "1:x"], 2, "expected GPUS or GPUS:NODES, such as 1:20", id="GPUs"),
        pytest.param(
            ["--nodes", "2", "--gpu", "1:3"], 2, "--gpu: 3 nodes should have GPUs, but the pool has 2", id="more GPUs"
        ),
        pytest.param(["--cpu", "8"], 2, "--cpu needs --nodes", id="CPUs of no nodes"),
        pytest.param(["--gpu", "1", "--pool", "name=a,nodes=1"], 2, "--gpu needs --nodes", id="GPUs of no nodes"),
        pytest.param(["--pool", "nodes=3"], 2, "--pool: 'nodes=3': name is missing", id="a pool without a name"),
        pytest.param(
            ["--pool", "name=a,nodes=3,cpus=4"], 2, "'cpus=4': expected NAME=VALUE with one of", id="no field"
        ),
        pytest.param(["--pool", "name=A,nodes=3"], 2, "name='A': expected a name of lower-case", id="no name"),
        pytest.param(["--pool", "name=a,nodes=3,nodes=4"], 2, "nodes is given twice", id="a field twice"),
        pytest.param(["--pool", "name=a,nodes=3,taint=x:No"], 2, "taint='x:No': expected KEY=VALUE:EFFECT", id="taint"),
        pytest.param(["--pool", "name=a,nodes=3,label=x"], 2, "label='x': expected KEY=VALUE", id="label"),
        pytest.param(
            ["--pool", "name=a,nodes=1,taint=x:NoSchedule,taint=x=y:NoSchedule"], 2, "leave one out", id="a taint twice"
        ),
        pytest.param(
            ["--nodes", "1", "--pool", "name=node,nodes=1"], 2, "two pools have the name 'node'", id="a pool twice"
        ),
        pytest.param(["MANIFEST", "--speed", "0"], 2, "'--speed': 0: expected a number above 0", id="no speed"),
        pytest.param(["MANIFEST", "--speed", "nan"], 2, "'--speed': nan: expected", id="no number for the speed"),
        pytest.param(["MANIFEST", "--speed", "fast"], 2, "'--speed': 'fast' is not a valid float", id="a word for it"),
        pytest.param(
            ["--name", "My Cluster"], 2, "'--name': 'My Cluster' is no name of a cluster", id="no cluster's name"
        ),
        pytest.param(["--name", "../x"], 2, "'../x' is no name of a cluster", id="a path for a name"),
        pytest.param(
            ["up", "--name", "dev", "status"],
            2,
            "status comes first: kubesched up status [NAME]",
            id="the wrong way round",
        ),
        pytest.param(["up", "status", "a", "b"], 2, "unexpected extra argument", id="two names"),
        pytest.param(["up", "down", "a", "--all"], 2, "give NAME or --all, not both", id="one and all"),
        pytest.param(["MANIFEST", "--data", "MANIFEST"], 1, "MANIFEST: is a file, and no folder", id="a file for data"),
    ],
)
def test_what_cannot_work_is_told(
    arguments: list[str], code: int, message: str, manifest: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    def named(text: str) -> str:
        return text.replace("FOLDER", str(empty)).replace("MANIFEST", str(manifest))

    words = arguments if arguments[:1] in (["up"], ["with-cluster"]) else ["try", *arguments]
    result = invoked(*map(named, words))
    assert result.exit_code == code
    assert named(message) in result.stderr
    assert result.stdout == ""


def test_manifests_without_nodes_say_where_nodes_come_from(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(a_pod("web"))
    result = invoked("try", str(tmp_path))
    assert result.exit_code == 1
    assert "examples/quickstart/nodes.yaml" in result.stderr
    assert "kubectl get nodes -o yaml" in result.stderr


# lines of two screens, and of the terminal of a test
TWO_SCREENS = 80


@pytest.mark.parametrize("name", ["up", "try", "with-cluster"])
def test_help_teaches_by_example_on_two_screens(name: str) -> None:
    text = invoked(name, "--help").stdout
    assert f"  kubesched {name} " in text
    assert text.count("Example: ") >= 2
    assert "Exit code: " in text
    assert len(text.splitlines()) <= TWO_SCREENS
    assert "--delay" not in text
    complete = invoked(name, "--help-all").stdout
    assert "--delay" in complete
    assert "pod-start" in complete
    for option in re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE):
        assert f"  {option}" in complete


def test_help_has_the_command_that_exports_a_cluster() -> None:
    text = invoked("try", "--help").stdout
    assert "kubesched try examples/quickstart/" in text
    assert "export KUBECONFIG" in invoked("up", "--help").stdout
    assert f"    {EXPORT}\n" in text, "in one line, for readers who copy it"
    assert EXPORT in (QUICKSTART.parents[1] / "docs/guides/clusters/up.md").read_text().replace("\\\n", "")


def test_old_options_of_up_are_hidden() -> None:
    text = invoked("up", "--help-all").stdout
    for option in ("--once", "--stay", "--output", "-- COMMAND"):
        assert option not in text


# -- the spellings before `try` and `with-cluster`


def test_up_once_is_try_with_a_hint(manifest: Path) -> None:
    old = invoked("up", "--once", "-o", "json", "--seed", "3", str(manifest))
    new = invoked("try", "-o", "json", "--seed", "3", str(manifest))
    assert (old.exit_code, old.stdout) == (new.exit_code, new.stdout)
    assert (old.exit_code, new.stderr) == (3, "")
    assert old.stderr == "`kubesched up --once` is deprecated: use `kubesched try`\n"


@pytest.mark.slow
def test_up_with_a_command_is_with_cluster_with_a_hint() -> None:
    process = ran("up", "--nodes", "1", "--", "sh", "-c", "test -s $KUBECONFIG && echo own words; exit 7")
    assert (process.returncode, process.stdout) == (7, "own words\n")
    hint, *rest = process.stderr.splitlines()
    assert hint == "`kubesched up ... -- COMMAND` is deprecated: use `kubesched with-cluster ... -- COMMAND`"
    assert [line.partition("=")[0].partition(" at ")[0] for line in rest] == ["API server", "export KUBECONFIG"]


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(manifest: Path) -> None:
    with staying(str(manifest)) as first:
        taken = first.url.rpartition(":")[2]
        process = ran("up", "--name", "another", "--port", taken, str(manifest))
    assert process.returncode == 1
    assert process.stderr.startswith(f"cannot listen on 127.0.0.1 port {taken}: ")
    assert process.stderr.endswith("Address already in use\n")


# -- until it is ended


class Staying(NamedTuple):
    """A process that stays, and what it says in its first two lines."""

    process: "subprocess.Popen[str]"
    url: str
    kubeconfig: Path

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """End it by a signal; return its exit code and what else it wrote."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@contextmanager
def staying(*arguments: str, **environment: str) -> Iterator[Staying]:
    """Start a cluster that stays; end it when the block is left."""
    process = subprocess.Popen(
        command("up", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        address, export = process.stdout.readline(), process.stdout.readline()
        assert export.startswith("export KUBECONFIG="), process.communicate()
        url = address.partition(" at ")[2].partition(";")[0]
        yield Staying(process, url, Path(export.removeprefix("export KUBECONFIG=").rstrip("\n")))
    finally:
        process.kill()
        process.communicate()


def asked(config: Path, method: str, path: str, body: Any = None) -> Any:
    """Return the document of an answer, asked for with a kubeconfig over TLS."""
    content = yaml.safe_load(config.read_text())
    cluster, token = content["clusters"][0]["cluster"], content["users"][0]["user"]["token"]
    trusting = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())

    async def ask() -> Any:
        async with (
            aiohttp.ClientSession(cluster["server"], headers={"Authorization": f"Bearer {token}"}) as session,
            session.request(method, path, json=body, ssl=trusting) as response,
        ):
            return await response.json()

    return asyncio.run(ask())


@pytest.mark.slow
def test_it_stays_for_others_until_it_is_ended(manifest: Path, tmp_path: Path) -> None:
    with staying(str(manifest), XDG_STATE_HOME=str(tmp_path / "state")) as staying_on:
        config = staying_on.kubeconfig
        assert stat.S_IMODE(config.stat().st_mode) == 0o600
        assert staying_on.url.startswith("https://127.0.0.1:")
        token = yaml.safe_load(config.read_text())["users"][0]["user"]["token"]
        asked(config, "POST", "/api/v1/namespaces/default/pods", yaml.safe_load(a_pod("late")))

        def node() -> Any:
            return asked(config, "GET", "/api/v1/namespaces/default/pods/late")["spec"].get("nodeName")

        assert eventually(node, "the pod that came later is bound") == "n1"
        code, out, err = staying_on.end()
    assert (code, err) == (0, "")
    assert "Scheduled  default/late  Successfully assigned default/late to n1" in out
    assert out.splitlines()[-1] == "1 node, 3 pods: 2 bound, 1 unschedulable."
    assert token not in out
    assert not config.exists()


@pytest.mark.slow
@pytest.mark.parametrize("old_option", [(), ("--stay",)], ids=["as it is", "with --stay"])
def test_it_stays_though_standard_output_is_a_pipe(old_option: tuple[str, ...], manifest: Path) -> None:
    with staying(*old_option, str(manifest)) as staying_on:

        def node() -> Any:
            return asked(staying_on.kubeconfig, "GET", "/api/v1/namespaces/default/pods/web")["spec"].get("nodeName")

        assert eventually(node, "the cluster has settled") == "n1"
        # longer than a cluster that has settled took to end
        with pytest.raises(subprocess.TimeoutExpired):
            staying_on.process.wait(3)
        code, out, err = staying_on.end(signal.SIGTERM)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "1 node, 2 pods: 1 bound, 1 unschedulable."


@pytest.mark.slow
def test_a_cluster_may_begin_empty(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    with staying("--kubeconfig", str(config)) as staying_on:
        asked(config, "POST", "/api/v1/namespaces/default/pods", yaml.safe_load(a_pod("early")))
        asked(config, "POST", "/api/v1/nodes", yaml.safe_load(NODE))

        def phase() -> Any:
            found = asked(config, "GET", "/api/v1/namespaces/default/pods/early")["status"].get("phase")
            return found if found == "Running" else None

        eventually(phase, "the pod runs on the node that came later")
        code, _, err = staying_on.end(signal.SIGTERM)
    assert code == 0
    assert err.startswith("there are no nodes"), "a hint, no error"
    assert config.exists(), "a file that was asked for stays"


@pytest.mark.slow
def test_being_ended_before_things_have_settled_is_an_error(tmp_path: Path) -> None:
    arguments = ("try", "--serve", "--delay", "node-ready=10m", "--timeout", "10m", str(QUICKSTART))
    process = subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
    )
    try:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("API server at https://")
        assert process.stderr.readline().startswith("export KUBECONFIG=")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (1, "ended before the cluster had settled\n")
    assert out.startswith("NAMESPACE"), "standard output is for the result alone"


# -- on a terminal


class Terminal:
    """A terminal with a process on it."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._process = subprocess.Popen(
            command(*arguments),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)
        self.text = ""

    def read(self) -> str:
        """Return everything that has been shown so far."""
        try:
            while True:
                self.text += os.read(self._ours, 1 << 16).decode()
        except OSError:
            # nothing for now, or the process has ended
            return self.text

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._ours, keys)

    def end(self) -> int:
        """Return the exit code as soon as there is one."""
        code = eventually(lambda: self._code(), "the process ends")
        self.read()
        return int(code)

    def _code(self) -> str | None:
        self.read()
        code = self._process.poll()
        return None if code is None else str(code)

    def close(self) -> None:
        """Take it away."""
        self._process.kill()
        self._process.wait()
        os.close(self._ours)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Any]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(*arguments, XDG_STATE_HOME=str(tmp_path)))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


@pytest.mark.slow
def test_on_a_terminal_it_stays_shows_how_things_stand_and_ends_with_ctrl_c(terminal: Any) -> None:
    shown = terminal("up", str(QUICKSTART))
    eventually(lambda: "default/urgent to node-" in shown.read(), "events are shown")
    eventually(lambda: "Job completed" in shown.read(), "controllers are at work")
    eventually(lambda: "14\x1b[0m pods bound" in shown.read(), "pods are counted, those of a finished Job are not")
    for words in ("export KUBECONFIG=", "\x1b[1m12\x1b[0m nodes", "unschedulable", "bound/s", "Scheduled"):
        assert words in shown.text
    shown.type(b"\x03")
    assert shown.end() == 0
    assert "12 nodes, 19 pods: 14 bound, 4 succeeded, 1 unschedulable, 1 preempted." in shown.text
    assert "Traceback" not in shown.text
    assert "Aborted" not in shown.text


def test_a_terminal_that_is_too_narrow_gets_whole_names() -> None:
    table = Table(box=None)
    for name, no_wrap in (("POD", True), ("REASON", False)):
        table.add_column(name, no_wrap=no_wrap)
    table.add_row("x" * 30, "y" * 300)
    assert [fits(table, width) for width in (120, 53, 52, 10)] == [True, True, False, False]


@pytest.mark.slow
def test_on_a_terminal_once_ends_with_a_table_that_fits_it(terminal: Any) -> None:
    shown = terminal("try", str(QUICKSTART))
    assert shown.end() == 3
    table = shown.text[shown.text.rindex("NAMESPACE") :]
    assert "12 nodes, 19 pods: 14 bound" in table
    assert "export KUBECONFIG" not in shown.text, "nobody could use it"
