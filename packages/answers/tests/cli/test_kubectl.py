"""`kubectl kubesched`: kubectl's flags mean what they mean to kubectl, and kubectl completes names."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.support.kubectl import WHY_MISSING, is_missing
from tests.support.served_cluster import ServedCluster, a_served_cluster

from kubesched.cli.kubectl_flags import KUBECTL_KUBESCHED
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_node, a_pod
from kubesched_answers.cli.kubectl import ASKING, complete, kubectl_kubesched
from kubesched_answers.sources.snapshots import snapshot_bytes


def run(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(kubectl_kubesched, words, env=environment, prog_name=KUBECTL_KUBESCHED)


def a_document(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    meta = {"name": name} if kind == "Node" else {"name": name, "namespace": "hers"}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta, **fields}


SPEC = {"containers": [{"name": "main", "image": "i"}]}
OBJECTS = (a_document("Node", "node-1"), *(a_document("Pod", name, spec=SPEC) for name in ("web-1", "web-2", "db-1")))


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    pods = [a_pod("web-1"), a_pod("web-2", node="node-1"), a_pod("db-1", namespace="data")]
    file = tmp_path / "cluster.gz"
    file.write_bytes(snapshot_bytes(ClusterObjects((a_node("node-1", cpu=4), *pods))))
    return str(file)


def completed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    complete(words)
    return capsys.readouterr().out.splitlines()


def test_the_namespace_is_that_of_the_context(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served:
        config = served.kubeconfig(namespace="hers")
        for words in (["--kubeconfig", config], ["--kubeconfig", config, "-n", "hers"]):
            assert "Pod hers/web-1 " in run("explain", "pod", "web-1", *words).stdout
        missing = run("explain", "pod", "web-1", "--kubeconfig", config, "-n", "default")
    assert missing.stderr == "there is no pod default/web-1, or it has finished; did you mean hers/web-1?\n"


def test_cluster_and_user_are_those_of_the_kubeconfig(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served:
        config = a_second_cluster(served)
        assert run("snapshot", "-o", str(tmp_path / "1"), "--cluster", "kubesched", KUBECONFIG=config).exit_code == 0
        assert "cannot connect to" in run("snapshot", "-o", str(tmp_path / "2"), KUBECONFIG=config).stderr
        wrong = run("snapshot", "-o", str(tmp_path / "3"), "--cluster", "prod", KUBECONFIG=config)
    assert wrong.stderr.endswith('context "kubesched": cluster "prod" does not exist; there are: "kubesched", "gone"\n')


def test_flags_for_requests_are_kubectls(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served:
        config = ["--kubeconfig", served.kubeconfig(namespace="hers")]
        assert "Pod hers/web-1 " in run("explain", "pod", "web-1", *config, "--request-timeout", "20s").stdout
        for words in (["--as", "anna"], ["--as=anna", "--as-group=nobody", "--as-uid=7"]):
            refused = run("explain", "pod", "web-1", *config, *words)
            assert (refused.exit_code, 'is forbidden: User "anna" cannot list' in refused.stderr) == (1, True)
        masters = ["--as", "anna", "--as-group", "nobody", "--as-group", "system:masters"]
        assert "Pod hers/web-1 " in run("explain", "pod", "web-1", *config, *masters).stdout
        gone = run("explain", *config, "-s", "https://127.0.0.1:1", "--insecure-skip-tls-verify")
        nobody_there = (
            "the cluster cannot be read: cannot connect to https://127.0.0.1:1: Connection refused; check that "
        )
        assert gone.stderr.startswith(nobody_there)
        wrong = run("explain", *config, "--token", "nobodys")
        assert "the API server does not accept the credentials of context" in wrong.stderr


@pytest.mark.parametrize(
    ("sentence", "words", "message"),
    [
        ("a log", ["-v", "6"], "Error: kubectl's -v does not exist here: requests are not logged."),
        ("all namespaces", ["-A"], "Error: kubectl's -A does not exist here: all namespaces are read anyway."),
        (
            "a password",
            ["--password=x"],
            "Error: kubectl's --password does not exist here: name a user of the kubeconfig with --user, "
            "or give --token.",
        ),
        ("an option that nobody has", ["--zzz"], "Error: No such option '--zzz'."),
        (
            "a time that is none",
            ["--request-timeout", "soon"],
            "Error: Invalid value for '--request-timeout': 'soon' is not a duration such as 30s or 2m",
        ),
    ],
)
def test_flags_that_are_not_there_get_one_line(sentence: str, words: list[str], message: str) -> None:
    result = run("explain", *words)
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, message), sentence


def a_second_cluster(served: ServedCluster) -> str:
    """Write a kubeconfig whose current context has a cluster that is gone."""
    path = Path(served.kubeconfig())
    config = yaml.safe_load(path.read_text())
    config["clusters"].append({"name": "gone", "cluster": {"server": "https://127.0.0.1:1"}})
    config["contexts"][0]["context"]["cluster"] = "gone"
    path.write_text(yaml.safe_dump(config))
    return str(path)


@pytest.mark.parametrize(
    ("sentence", "words", "expected"),
    [
        ("commands", ["sna"], ["snapshot\tWrite a cluster to a file, for questions later or elsewhere.", ":4"]),
        ("what is explained", ["explain", ""], ["pods", "pod", "node", ":4"]),
        ("pods of the namespace", ["explain", "pod", "--from", "FILE", ""], ["web-1", "web-2", ":4"]),
        ("pods that begin so", ["explain", "pod", "--from", "FILE", "web-2"], ["web-2", ":4"]),
        ("pods of another namespace", ["explain", "pod", "--from", "FILE", "-n", "data", ""], ["db-1", ":4"]),
        ("pods by their full names", ["explain", "pod", "--from", "FILE", "data/"], ["data/db-1", ":4"]),
        ("nodes", ["explain", "node", "--from", "FILE", "n"], ["node-1", ":4"]),
        ("a file that does not exist has no names", ["explain", "node", "--from", "nowhere", "n"], [":4"]),
        ("nothing yet", [], [f"{name}\t" for name in ASKING] + [":4"]),
    ],
)
def test_words_are_completed(
    sentence: str, words: list[str], expected: list[str], snapshot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = completed(capsys, *(snapshot if word == "FILE" else word for word in words))
    assert len(found) == len(expected), sentence
    assert all(line.startswith(start) for line, start in zip(found, expected, strict=True)), sentence


def test_names_of_a_live_cluster_are_completed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served:
        config = served.kubeconfig(namespace="hers")
        assert completed(capsys, "explain", "pod", "--kubeconfig", config, "w") == ["web-1", "web-2", ":4"]
        assert completed(capsys, "explain", "node", "--kubeconfig", config, "") == ["node-1", ":4"]
    # nobody is there any more
    assert completed(capsys, "explain", "node", "--kubeconfig", config, "") == [":4"]


@pytest.mark.skipif(is_missing(), reason=WHY_MISSING)
def test_kubectl_finds_the_plugin_and_its_completion(tmp_path: Path, snapshot: str) -> None:
    for name, function in (
        ("kubectl-kubesched", "kubectl_kubesched"),
        ("kubectl_complete-kubesched", "kubectl_complete_kubesched"),
    ):
        script = tmp_path / name
        script.write_text(f"#!{sys.executable}\nfrom kubesched_answers.console import {function}\n{function}()\n")
        script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def kubectl(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["kubectl", *words], capture_output=True, text=True, env=environment, timeout=120)

    told = kubectl("kubesched", "explain", "pod", "web-1", "--from", snapshot)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("Pod default/web-1 fits on 1 of 1 node")
    assert kubectl("__complete", "kubesched", "explain", "pod", "--from", snapshot, "we").stdout.splitlines() == [
        "web-1",
        "web-2",
        ":4",
    ]
