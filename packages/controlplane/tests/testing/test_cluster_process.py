"""The cluster for tests of others: real sessions of pytest, in processes of their own, with the official client."""

import os
import signal
import subprocess
import sys
import time
from email.message import Message
from io import BytesIO
from pathlib import Path
from urllib.error import HTTPError

import pytest

from kubesched_controlplane.testing.cluster_process import ClusterProcess, ClusterProcessError, _message
from kubesched_controlplane.testing.session_cluster import namespace_name

# a test as others write it, with the client of the Kubernetes project
WITH_THE_CLIENT = """
import time
from kubernetes import client, config


def test_a_pod_is_scheduled(kubernetes_cluster, kubernetes_namespace):
    config.load_kube_config(config_file=str(kubernetes_cluster.kubeconfig))
    with client.ApiClient() as connection:
        core = client.CoreV1Api(connection)
        assert len(core.list_node().items) == 2
        container = client.V1Container(name="c", image="i")
        core.create_namespaced_pod(
            kubernetes_namespace,
            client.V1Pod(metadata=client.V1ObjectMeta(name="p"), spec=client.V1PodSpec(containers=[container])),
        )
        deadline = time.monotonic() + 60
        while not (found := core.read_namespaced_pod("p", kubernetes_namespace)).spec.node_name:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_each_test_has_a_namespace_of_its_own(kubernetes_cluster, kubernetes_namespace):
    path = f"/api/v1/namespaces/{kubernetes_namespace}/pods"
    assert kubernetes_cluster.request("GET", path)["items"] == []
"""
# nothing of kubesched is named: it reads KUBECONFIG, as programs do, even while tests are collected
WITH_KUBECONFIG = """
import os
from kubernetes import client, config

config.load_kube_config(os.environ["KUBECONFIG"])


def test_nodes():
    with client.ApiClient() as connection:
        assert len(client.CoreV1Api(connection).list_node().items) == 1


def test_the_fixture_is_the_same_cluster(kubernetes_cluster):
    assert str(kubernetes_cluster.kubeconfig) == os.environ["KUBECONFIG"]
"""
KILLED = """
import os, signal


def test_it_is_killed(kubernetes_cluster):
    with open("pid", "w") as file:
        file.write(str(kubernetes_cluster._process.pid))
    os.kill(os.getpid(), signal.SIGKILL)
"""
UNRELATED = """
import sys


def test_nothing_of_it_is_imported():
    assert not {"numpy", "msgspec", "kubesched_controlplane.testing.cluster_process"} & set(sys.modules)
"""


def session(folder: Path, test: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run a session of pytest on a file with tests."""
    (folder / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(folder)]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    environment.pop("KUBECONFIG", None)
    return subprocess.run(
        [*command, *options, "test_it.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_sessions_that_do_not_use_it_do_not_notice(tmp_path: Path) -> None:
    ran = session(tmp_path, UNRELATED, "-q")
    assert ran.returncode == 0, ran.stdout
    assert not (tmp_path / "state").exists()


def test_words_that_are_none_are_told(tmp_path: Path) -> None:
    ran = session(tmp_path, UNRELATED, "--kubesched-cluster", "--kubesched-up", "'torn")
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert ran.stderr.strip() == "ERROR: --kubesched-up: No closing quotation"


@pytest.mark.slow
def test_a_fixture_is_a_cluster_for_the_official_client(tmp_path: Path) -> None:
    ran = session(tmp_path, WITH_THE_CLIENT, "--kubesched-nodes", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # nothing is left behind
    assert not list((tmp_path / "state").rglob("kubeconfig"))


@pytest.mark.slow
def test_an_option_gives_the_whole_session_a_cluster(tmp_path: Path) -> None:
    ran = session(tmp_path, WITH_KUBECONFIG, "--kubesched-cluster", "--kubesched-nodes=1", "-n1", "-v")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("PASSED") == 2


@pytest.mark.slow
def test_a_session_that_is_killed_leaves_no_cluster(tmp_path: Path) -> None:
    assert session(tmp_path, KILLED).returncode == -signal.SIGKILL
    number = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 60
    while _runs(number):
        assert time.monotonic() < deadline, "the cluster is still there"
        time.sleep(0.05)


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    # a process that has ended, and that nobody has waited for yet, does not run
    return "Z (zombie)" not in Path(f"/proc/{number}/status").read_text()


@pytest.mark.slow
def test_a_cluster_that_cannot_start_ends_the_session_with_its_words(tmp_path: Path) -> None:
    ran = session(tmp_path, UNRELATED, "--kubesched-cluster", "--kubesched-up", "missing.yaml")
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert (
        "ERROR: `kubesched with-cluster --nodes 3 missing.yaml` has ended with exit code 1; it wrote:\n" in ran.stderr
    )
    assert "missing.yaml" in ran.stderr.partition("it wrote:")[2]


@pytest.mark.slow
def test_what_the_api_server_refuses_is_told_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with ClusterProcess(nodes=0) as cluster:
        cluster.create_namespace("a")
        with pytest.raises(ClusterProcessError, match='POST /api/v1/namespaces: namespaces "a" already exists'):
            cluster.create_namespace("a")
        cluster.end()
        with pytest.raises(ClusterProcessError, match=r"GET /api/v1/nodes: .*refused"):
            cluster.request("GET", "/api/v1/nodes")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"kind": "Status", "message": "pods \\"a\\" not found"}', 'pods "a" not found'),
        (b'{"kind": "Status"}', "Not Found"),
        (b"[]", "Not Found"),
        (b"<html>", "Not Found"),
    ],
    ids=["a Status", "a Status without a message", "a list", "no JSON"],
)
def test_a_refusal_has_a_sentence_whatever_was_answered(body: bytes, told: str) -> None:
    with HTTPError("https://host", 404, "Not Found", Message(), BytesIO(body)) as error:
        assert _message(error) == told


@pytest.mark.parametrize(
    ("test", "begins"),
    [
        ("test_a_pod", "test-a-pod-"),
        ("test_pods[Größe 3-x]", "test-pods-gr-e-3-x-"),
        ("___", "test-"),
        ("test_" + "x" * 100, "test-" + "x" * 43 + "-"),
    ],
    ids=["a test", "a parameter with signs", "signs alone", "a long name"],
)
def test_namespaces_have_the_names_of_their_tests(test: str, begins: str) -> None:
    name = namespace_name(test)
    assert name.startswith(begins)
    assert len(name) <= 63
    assert namespace_name(test) != name
