"""`kubesched plugins list` and `show`: what there is, and what a plugin is like."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main

PLUGIN = '''
from dataclasses import dataclass

from kubesched import FilterPlugin, Reads, unschedulable


@dataclass
class RackArgs:
    most_pods: int = 2


class RackQuota(FilterPlugin):
    """At most so many pods on a node."""

    name = "RackQuota"
    reads = Reads.PODS
    looks_up = ("racks.v1.example.com",)

    def __init__(self, args: RackArgs) -> None:
        self.most = args.most_pods

    def key(self, pod):
        return "any"

    def filter(self, cycle, pod, node):
        return unschedulable("full") if node.pod_count >= self.most else None
'''
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: racks
  plugins: {multiPoint: {enabled: [{name: RackQuota}]}}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "racks.py").write_text(PLUGIN)
    (tmp_path / "racks.yaml").write_text(CONFIG)
    return str(tmp_path / "racks.py")


def output_of(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["plugins", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_in_tree_plugins_are_listed_with_their_profile() -> None:
    (found,) = (each for each in json.loads(output_of("list", "-o", "json")) if each["name"] == "NodeName")
    assert found == {
        "name": "NodeName",
        "source": "in-tree",
        "extension_points": ["filter"],
        "enabled_in": ["default-scheduler"],
    }


def test_plugins_of_a_file_are_listed_with_the_profiles_that_enable_them(file: str) -> None:
    config = file.replace("racks.py", "racks.yaml")
    (found,) = (
        each
        for each in json.loads(output_of("list", "-o", "json", "--plugin", file, "--config", config))
        if each["name"] == "RackQuota"
    )
    assert found["enabled_in"] == ["racks"]
    assert found["source"] == f"--plugin {file}"
    assert "RackQuota" in output_of("list", "--plugin", file)


def test_a_plugin_is_shown_with_its_arguments_and_what_it_reads(file: str) -> None:
    text = output_of("show", "RackQuota", "--plugin", file)
    assert "about: At most so many pods on a node." in text
    assert "  mostPods: int, default 2" in text
    assert "  reads: PODS" in text
    assert "  racks.v1.example.com" in text


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    result = CliRunner().invoke(main, ["plugins", "show", "NodeNaem"])
    assert result.exit_code == 1
    assert "there is no plugin NodeNaem; did you mean NodeName?" in result.output
