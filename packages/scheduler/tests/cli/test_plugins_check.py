"""`kubesched plugins check`: a line a check, findings below, exit codes."""

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main

RIGHT = """
from kubesched import filter_plugin, unschedulable

@filter_plugin("QuietNodes")
def quiet_nodes(pod, node):
    return unschedulable("node(s) nearly full") if node.free.milli_cpu < 100 else None
"""
WRONG = RIGHT.replace('unschedulable("node(s) nearly full")', "True")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (RIGHT, 0, "hooks return valid answers, scores from 0 to 100: ok (60 examples"),
        (WRONG, 3, "filter returned True; return None or a status"),
        ("import nothing_of_the_kind", 1, "importing it failed"),
    ],
    ids=["a plugin that is right", "a filter that returns True", "a file that cannot be imported"],
)
def test_the_exit_code_and_the_line_about_it(text: str, code: int, line: str, tmp_path: Path) -> None:
    file = tmp_path / "quiet.py"
    file.write_text(text)
    result = CliRunner().invoke(main, ["plugins", "check", "--examples", "60", str(file)])
    assert result.exit_code == code, result.output
    assert line in result.output


def test_arguments_come_from_a_configuration(tmp_path: Path) -> None:
    file, config = tmp_path / "racks.py", tmp_path / "racks.yaml"
    file.write_text(
        """
from dataclasses import dataclass
from kubesched import FilterPlugin

@dataclass
class RackArgs:
    most: int

class RackQuota(FilterPlugin):
    name = "RackQuota"

    def __init__(self, args: RackArgs):
        self.most = args.most

    def filter(self, cycle, pod, node):
        return None
"""
    )
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- plugins: {multiPoint: {enabled: [{name: RackQuota}]}}\n"
        "  pluginConfig: [{name: RackQuota, args: {most: 3}}]\n"
    )
    command = ["plugins", "check", "--examples", "1", str(file)]
    without = CliRunner().invoke(main, command)
    assert without.exit_code == 3
    assert "args.most: is required" in without.output
    assert CliRunner().invoke(main, [*command, "--config", str(config)]).exit_code == 0


RACKS = """
from kubesched import FilterPlugin, unschedulable

KIND = "racks.v1.example.com"

class OpenRacks(FilterPlugin):
    name = "OpenRacks"
    looks_up = (KIND,)

    def __init__(self, cluster):
        self.cluster = cluster

    def filter(self, cycle, pod, node):
        rack = self.cluster.get(KIND, "default/rack")
        return unschedulable("closed") if rack is not None and rack.spec["open"] is MISTAKE else None
"""
MANIFESTS = """
apiVersion: example.com/v1
kind: Rack
metadata: {name: rack, namespace: default}
spec: {open: false}
---
apiVersion: v1
kind: Node
metadata: {name: from-the-file}
"""


@pytest.mark.parametrize(
    ("plugin", "manifests", "code", "line"),
    [
        (RACKS.replace("MISTAKE", "False"), MANIFESTS, 0, "kept answers equal fresh ones: ok"),
        (
            RACKS.replace("MISTAKE", "0 / 0"),
            MANIFESTS,
            3,
            r"node from-the-file: .*\n  racks.v1.example.com rack: {.spec.:",
        ),
        (
            RACKS.replace("MISTAKE", "False").replace("looks_up = (KIND,)", ""),
            MANIFESTS,
            0,
            "OpenRacks does not look up Rack: name it in looks_up",
        ),
        (RACKS, "kind: Rack", 1, "metadata.name: is required"),
        (RACKS, "a: [", 1, "objects.yaml: document 1"),
    ],
    ids=[
        "objects of a kind that the plugin looks up are used",
        "so that it finds what is wrong with it, and nodes come in place of random ones",
        "a kind that it does not look up is told",
        "an object without a name",
        "a file that is no YAML",
    ],
)
def test_objects_come_from_files(plugin: str, manifests: str, code: int, line: str, tmp_path: Path) -> None:
    file, objects = tmp_path / "racks.py", tmp_path / "objects.yaml"
    file.write_text(plugin)
    objects.write_text(manifests)
    result = CliRunner().invoke(main, ["plugins", "check", "--examples", "20", str(file), "--objects", str(objects)])
    assert result.exit_code == code, result.output
    assert re.search(line, result.output), result.output


def test_without_the_extra_the_command_says_which_it_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "quiet.py"
    file.write_text(RIGHT)
    monkeypatch.delitem(sys.modules, "kubesched.testing.plugin_checks.strategies", raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    result = CliRunner().invoke(main, ["plugins", "check", str(file)])
    assert result.exit_code == 1
    assert 'need hypothesis, which is not installed: pip install "kubesched[testing]"' in result.output
