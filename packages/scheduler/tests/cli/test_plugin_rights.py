"""`kubesched plugins rights`: what enabled plugins need, as values of the chart or as manifests."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from kubesched.cli import main

PLUGIN = """
from kubesched import FilterPlugin

class Racks(FilterPlugin):
    name = "Racks"
    looks_up = ("racks.v1.example.com", "Namespace")
    writes = ("racks.v1.example.com/status", "Pod/eviction", "Node")

    def filter(self, cycle, pod, node):
        return None
"""
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: racks
  plugins: {multiPoint: {enabled: [{name: Racks}]}}
"""
RULES = [
    {"apiGroups": ["example.com"], "resources": ["racks"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["example.com"], "resources": ["racks/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"]},
]


@pytest.fixture
def racks(tmp_path: Path) -> list[str]:
    (tmp_path / "racks.py").write_text(PLUGIN)
    (tmp_path / "racks.yaml").write_text(CONFIG)
    return ["--plugin", str(tmp_path / "racks.py"), "--config", str(tmp_path / "racks.yaml")]


def rights(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["plugins", "rights", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_in_tree_plugins_need_nothing_more() -> None:
    assert yaml.safe_load(rights()) == {"rbac": {"pluginRules": []}}
    assert "need no rights beyond" in rights("-o", "manifest")


def test_an_enabled_plugin_reads_custom_kinds_and_writes_what_it_declares(racks: list[str]) -> None:
    assert yaml.safe_load(rights(*racks)) == {"rbac": {"pluginRules": RULES}}


def test_a_plugin_that_is_not_enabled_needs_nothing(racks: list[str]) -> None:
    assert yaml.safe_load(rights(*racks[:2])) == {"rbac": {"pluginRules": []}}


def test_manifests_bind_the_rules_to_a_service_account(racks: list[str]) -> None:
    role, binding = yaml.safe_load_all(rights(*racks, "-o", "manifest", "--service-account", "ops/sched"))
    assert (role["kind"], role["rules"]) == ("ClusterRole", RULES)
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "namespace": "ops", "name": "sched"}]


@pytest.mark.parametrize("account", ["kubesched", "/kubesched", "kube-system/"])
def test_a_service_account_has_a_namespace_and_a_name(account: str) -> None:
    assert "expected NAMESPACE/NAME" in rights("--service-account", account, code=2)


def test_a_configuration_with_a_plugin_that_is_not_there_says_so(racks: list[str]) -> None:
    assert "Racks" in rights(*racks[2:], code=1)
