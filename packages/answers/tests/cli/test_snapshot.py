"""`kubesched snapshot`: a file that --from reads, whole or not at all, and a line about it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched_answers.sources.snapshots import read_snapshot


def run(*words: str, stdin: bytes | None = None) -> Result:
    # wide enough for the paths of files
    return CliRunner(env={"COLUMNS": "1000"}).invoke(main, words, input=stdin)


@pytest.fixture
def manifests(tmp_path: Path) -> str:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node", "uid": "1"},
        "status": {"allocatable": {"pods": "9"}},
    }
    pods: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "web", "uid": name}}
        for name in ("a", "b")
    ]
    unreadable = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c", "uid": "c"}, "spec": 1}
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all([node, *pods, unreadable]))
    return str(path)


def test_a_snapshot_is_written_and_told_of(manifests: str, tmp_path: Path) -> None:
    file = tmp_path / "cluster.gz"
    result = run("snapshot", "-o", str(file), "--from", manifests)
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first.startswith(f"{file}: 1 node, 2 pods and 0 other objects, ")
    left_out = f"Left out: an object: {manifests}: document 4: Pod default/c: spec: expected a mapping, got "
    assert second.startswith(left_out)
    assert len(read_snapshot("", file.read_bytes()).objects) == 3
    assert set(tmp_path.iterdir()) == {file, Path(manifests)}


def test_a_snapshot_can_go_through_a_pipe(manifests: str) -> None:
    snapshot = run("snapshot", "-o", "-", "--from", manifests).stdout_bytes
    result = run("explain", "pod", "web/a", "--from", "-", stdin=snapshot)
    assert result.exit_code == 0
    assert "web/a" in result.stdout


def test_a_name_without_a_namespace_is_one_of_the_chosen_namespace(manifests: str) -> None:
    assert run("explain", "pod", "a", "-n", "web", "--from", manifests).exit_code == 0
    assert "there is no pod default/a" in run("explain", "pod", "a", "--from", manifests).stderr


def test_an_anonymised_snapshot_has_no_names(manifests: str, tmp_path: Path) -> None:
    files = [tmp_path / "1.gz", tmp_path / "2.gz", tmp_path / "3.gz"]
    for file, key in zip(files, (["--key", "k"], ["--key", "k"], []), strict=True):
        assert run("snapshot", "--anonymise", *key, "-o", str(file), "--from", manifests).exit_code == 0
    one, two, three = ([obj.name for obj in read_snapshot("", file.read_bytes()).objects] for file in files)
    assert one == two
    assert {"node", "a", "b"}.isdisjoint(one)
    # without a key nobody can tell which name a code stands for
    assert one != three


BAD = [
    (
        "a folder that does not exist",
        ("snapshot", "-o", "nowhere/file", "--from", "FILE"),
        "nowhere/file: cannot be written: No such file or directory\n",
    ),
    (
        "a configuration that does not exist",
        ("explain", "pod", "web/a", "--from", "FILE", "--config", "nowhere"),
        "nowhere: No such file or directory\n",
    ),
    (
        "a configuration that is none",
        ("explain", "pod", "web/a", "--from", "FILE", "--config", "FILE"),
        "--config FILE: ",
    ),
]


@pytest.mark.parametrize(("what", "words", "line"), BAD, ids=[what for what, _, _ in BAD])
def test_bad_options_get_one_line(what: str, words: tuple[str, ...], line: str, manifests: str) -> None:
    result = run(*(manifests if word == "FILE" else word for word in words))
    assert result.exit_code == 1
    assert result.stderr.replace(manifests, "FILE").startswith(line), what
    assert "Traceback" not in result.stderr


PLUGIN = """
from kubesched import FilterPlugin, unschedulable

LOADS = "nodeloads.v1.example.com"


class CalmNodes(FilterPlugin):
    name = "CalmNodes"
    looks_up = (LOADS,)

    def __init__(self, args, cluster):
        self._cluster = cluster

    def filter(self, cycle, pod, node):
        load = next((each for each in self._cluster.all(LOADS) if each.name == node.name), None)
        return unschedulable("node(s) are busy") if load is not None and load.usage["cpu"] > 80 else None
"""
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: CalmNodes}]}}}]
"""


def test_what_plugins_look_up_is_in_a_snapshot_that_knows_them(manifests: str, tmp_path: Path) -> None:
    for name, text in (("calm_nodes.py", PLUGIN), ("config.yaml", CONFIG)):
        (tmp_path / name).write_text(text)
    load = {"apiVersion": "example.com/v1", "kind": "NodeLoad", "metadata": {"name": "node", "uid": "l"}}
    more = tmp_path / "loads.yaml"
    more.write_text(yaml.safe_dump({**load, "usage": {"cpu": 90}}))
    scheduler = ["--config", str(tmp_path / "config.yaml"), "--plugin", str(tmp_path / "calm_nodes.py")]
    sources = ["--from", manifests, "--from", str(more)]
    with_loads, without = str(tmp_path / "with.gz"), str(tmp_path / "without.gz")
    assert " and 1 other object, " in run("snapshot", "-o", with_loads, *sources, *scheduler).stderr
    assert " and 0 other objects, " in run("snapshot", "-o", without, *sources).stderr

    def asked(file: str) -> str:
        return run("explain", "pod", "web/a", "--from", file, *scheduler).stdout

    assert '1 with "node(s) are busy"' in asked(with_loads)
    assert "the snapshot was written without this plugin" in " ".join(asked(without).split())
