"""The real kubectl against the server: a client that knows nothing of us. Skipped where there is none."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.control_plane import a_control_plane
from tests.support.kubectl import SECONDS, WHY_MISSING, Kubectl, is_missing

pytestmark = pytest.mark.skipif(is_missing(), reason=WHY_MISSING)

MANIFESTS = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p1, labels: {app: web}}
# it takes its time to stop, so that it is still there when it is asked for
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 30
  containers: [{name: c, lifecycle: {preStop: {sleep: {seconds: 20}}}, image: nginx}]
---
apiVersion: v1
kind: Pod
metadata: {name: p2}
spec: {containers: [{name: c, image: nginx}]}
"""


@pytest.fixture
def kubectl(tmp_path: Path) -> Iterator[Kubectl]:
    manifests = tmp_path / "manifests.yaml"
    manifests.write_text(MANIFESTS)
    config = tmp_path / "config"
    with a_control_plane("--kubeconfig", str(config), str(manifests)) as process:
        yield Kubectl(config, tmp_path)
        code, _, err = process.end()
        assert (code, err) == (0, ""), "nothing went wrong inside"


def soon(condition: Callable[[], object]) -> None:
    """Wait for something that happens soon."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_reads(kubectl: Kubectl) -> None:
    assert "Server Version: v1.36" in kubectl("version")
    resources = kubectl("api-resources", "-o", "name").splitlines()
    assert {"pods", "nodes", "leases.coordination.k8s.io", "resourceclaims.resource.k8s.io"} <= set(resources)
    assert kubectl("get", "nodes", "-o", "name") == "node/n1"
    assert [line.split()[0] for line in kubectl("get", "pods", "-A", "--no-headers").splitlines()] == ["default"] * 2
    assert [item["metadata"]["name"] for item in kubectl.json("get", "po", "-l", "app=web")["items"]] == ["p1"]
    assert 'cpu: "4"' in kubectl("get", "node/n1", "-o", "yaml")
    assert kubectl("get", "pod", "p1", "-o", "jsonpath={.spec.nodeName}") == "n1"
    assert kubectl.refused("get", "pod", "p9") == 'Error from server (NotFound): pods "p9" not found'
    assert "the server doesn't have a resource type" in kubectl.refused("get", "pots")


def test_it_creates_and_what_is_wrong_is_said_by_the_server(kubectl: Kubectl) -> None:
    assert kubectl("create", "-f", "-", text=MANIFESTS.replace("p1", "p3").replace("p2", "p4").replace("n1", "n3"))
    assert len(kubectl.json("get", "pods")["items"]) == 4
    assert "AlreadyExists" in kubectl.refused("create", "-f", "-", text=MANIFESTS)
    mistyped = MANIFESTS.replace("p1", "p5").replace("nginx}", "nginx, imaje: x}")
    unknown = 'unknown field "spec.containers[0].imaje"'
    assert f"strict decoding error: {unknown}" in kubectl.refused("create", "-f", "-", text=mistyped)
    warned = kubectl.run("create", "--validate=warn", "--dry-run=server", "-f", "-", text=mistyped)
    assert f"Warning: {unknown}" in warned.stderr
    listed = kubectl("get", "pods,nodes", "-o", "yaml")
    kubectl("delete", "pods", "--all", "--force")
    kubectl("delete", "nodes", "--all")
    assert len(kubectl("create", "-f", "-", text=listed).splitlines()) == 6, "a List comes back as it went out"
    assert kubectl(
        "create",
        "--dry-run=server",
        "-f",
        "-",
        text=MANIFESTS.replace("p1", "dry").replace("p2", "drier").replace("n1", "driest"),
    )
    assert len(kubectl.json("get", "pods")["items"]) == 4


def test_it_applies(kubectl: Kubectl) -> None:
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1', b: '2'}\n"
    assert kubectl("apply", "-f", "-", text=config) == "configmap/c created"
    assert kubectl("apply", "-f", "-", text=config) == "configmap/c unchanged"
    found = kubectl.run("apply", "-f", "-", text=config.replace(", b: '2'", ", c: '3'"))
    assert (found.stdout, found.stderr) == ("configmap/c configured\n", "")
    assert kubectl.json("get", "configmap", "c")["data"] == {"a": "1", "c": "3"}


def test_it_changes_nodes(kubectl: Kubectl) -> None:
    assert kubectl("label", "node", "n1", "zone=a") == "node/n1 labeled"
    assert kubectl("annotate", "node", "n1", "note=x") == "node/n1 annotated"
    assert kubectl("taint", "node", "n1", "gpu=yes:NoSchedule") == "node/n1 tainted"
    assert kubectl("cordon", "n1") == "node/n1 cordoned"
    node = kubectl.json("get", "node", "n1")
    assert (node["metadata"]["labels"]["zone"], node["metadata"]["annotations"]["note"]) == ("a", "x")
    assert {taint["key"] for taint in node["spec"]["taints"]} >= {"gpu"}
    assert node["spec"]["unschedulable"] is True
    assert kubectl("uncordon", "n1") == "node/n1 uncordoned"
    assert kubectl("taint", "node", "n1", "gpu-") == "node/n1 untainted"
    assert kubectl("label", "node", "n1", "zone-") == "node/n1 unlabeled"
    node = kubectl.json("get", "node", "n1")
    assert "zone" not in node["metadata"].get("labels", {})
    assert "unschedulable" not in node["spec"]
    assert "patch" in kubectl(
        "patch", "node", "n1", "--type=json", "-p", '[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]'
    )


def test_it_deletes(kubectl: Kubectl) -> None:
    # newer ones also name the namespace
    def delete(*words: str) -> str:
        return kubectl("delete", *words).removesuffix(" from default namespace")

    assert delete("pod", "p2") == 'pod "p2" deleted', "one that was never scheduled goes at once"
    assert delete("pod", "p1", "--wait=false") == 'pod "p1" deleted'
    meta = kubectl.json("get", "pod", "p1")["metadata"]
    assert meta["deletionGracePeriodSeconds"] == 30, "one that runs is given time"
    assert delete("pod", "p1", "--wait=false", "--grace-period=25") == 'pod "p1" deleted'
    assert kubectl.json("get", "pod", "p1")["metadata"]["deletionGracePeriodSeconds"] == 25
    assert delete("pod", "p1", "--force", "--grace-period=0") == 'pod "p1" force deleted'
    assert "NotFound" in kubectl.refused("get", "pod", "p1")
    assert delete("node", "n1") == 'node "n1" deleted'
    assert "NotFound" in kubectl.refused("delete", "node", "n1")


def test_it_watches(kubectl: Kubectl) -> None:
    watching = kubectl.start("get", "pods", "-w", "--output-watch-events", "--no-headers")
    assert watching.stdout is not None

    def event() -> list[str]:
        return watching.stdout.readline().split()[:2]  # type: ignore[union-attr]

    try:
        assert sorted(event() for _ in range(2)) == [["ADDED", "p1"], ["ADDED", "p2"]]
        kubectl("label", "pod", "p2", "a=b")
        assert event() == ["MODIFIED", "p2"]
        kubectl("delete", "pod", "p2")
        assert [event(), event()] == [["MODIFIED", "p2"], ["DELETED", "p2"]], "marked first, then gone"
    finally:
        watching.kill()
        watching.communicate()


def test_it_waits(kubectl: Kubectl) -> None:
    waiting = kubectl.start(
        "wait", "pod/p2", "--for=jsonpath={.metadata.labels.ready}=yes", f"--timeout={int(SECONDS)}s"
    )
    kubectl("label", "pod", "p2", "ready=yes")
    soon(lambda: waiting.poll() is not None)
    assert (waiting.communicate()[0], waiting.returncode) == ("pod/p2 condition met\n", 0)
