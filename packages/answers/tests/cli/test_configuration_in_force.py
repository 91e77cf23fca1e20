"""Questions about a live cluster are answered under the configuration that its scheduler has in force."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.control_plane import a_local_cluster
from tests.support.processes import eventually
from tests.support.served_cluster import a_served_cluster

from kubesched.cli import main
from kubesched.cli.configurations import ASSUMED, ConfigurationChoice
from kubesched.cli.plugin_options import load_plugins
from kubesched.config.feature_gates import FeatureGates
from kubesched.sources.cluster_source import ClusterSource
from kubesched_controlplane.api.requests import Response

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
PACKING = json.dumps(
    {
        **HEAD,
        "profiles": [
            {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}]}
        ],
    }
)
STRANGE = {**HEAD, "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Nowhere"}]}}}]}
KEYS = {**HEAD, "extenders": [{"urlPrefix": "https://x/y", "filterVerb": "f", "tlsConfig": {"keyData": "[hidden]"}}]}
# a sentence: what /configz answers, whether it is used, and what is told
TOLD: dict[str, tuple[Any, bool, str]] = {
    "another configuration": ({"componentconfig": {**HEAD, "podMaxBackoffSeconds": 20}}, True, ""),
    "one with hidden keys": ({"componentconfig": {**KEYS, "podMaxBackoffSeconds": 20}}, True, ""),
    "one of kube-scheduler": ({"kubescheduler.config.k8s.io": {"PodMaxBackoffSeconds": 20}}, False, ""),
    "a plugin that is not here": ({"componentconfig": STRANGE}, False, "add out-of-tree plugins with --plugin"),
    "no object": ([1], False, ""),
}


def choice(file: str | None = None) -> ConfigurationChoice:
    return ConfigurationChoice(file, FeatureGates(), load_plugins())


@pytest.mark.parametrize("case", TOLD)
def test_what_is_told_is_used_if_it_can_be(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer, used, sentence = TOLD[case]
    with a_served_cluster(tmp_path) as cluster:
        cluster.server.pages["/configz"] = lambda request: Response(200, (json.dumps(answer).encode(),))
        found = choice().of(ClusterSource(kubeconfig=cluster.kubeconfig()))
    assert found.loaded.config.pod_max_backoff_seconds == (20 if used else 10)
    assert found.assumed == ("" if used else ASSUMED)
    assert sentence in capsys.readouterr().err


def test_a_file_goes_before_what_is_told(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(PACKING)
    found = choice(str(file)).of(ClusterSource(kubeconfig="nowhere"))
    assert (found.text, found.assumed) == (PACKING, "")


def test_files_and_clusters_that_tell_nothing_have_the_defaults(tmp_path: Path) -> None:
    assert choice().of(ClusterSource(paths=("x",))).assumed == ASSUMED
    with a_served_cluster(tmp_path) as cluster:
        assert choice().of(ClusterSource(kubeconfig=cluster.kubeconfig())).assumed == ASSUMED


def a_pod(name: str, **spec: str) -> str:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
    return json.dumps(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}
    )


@pytest.mark.slow
def test_a_cluster_of_up_is_asked_about_under_its_own_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    files = {"packing": PACKING, "defaults": json.dumps(HEAD), "there": a_pod("there"), "new": a_pod("new")}
    paths = {name: str(tmp_path / f"{name}.json") for name in files}
    for name, text in files.items():
        Path(paths[name]).write_text(text)

    def ask(*words: str) -> Any:
        return json.loads(CliRunner().invoke(main, [*words, "--cluster", "packed", "-o", "json"]).stdout)

    with a_local_cluster("--nodes", "2", "--name", "packed", "--config", paths["packing"], paths["there"]):
        eventually(lambda: ask("explain", "pod", "there")["verdict"] == "bound" or None, "the pod is bound")
        node = ask("explain", "pod", "there")["placed"]["node"]
        words = ("explain", "pod", "-f", paths["new"])
        assert ask(*words)["placement"]["node"] == node
        assert ask(*words, "--config", paths["defaults"])["placement"]["node"] != node
        compared = ask("whatif", "--compare", "--weight", "NodeAffinity=1")
        assert "the configuration in force" in json.dumps(compared)
