"""kubectl as people use it, against one server: create, apply, diff, explain, describe, drain, wait, roll out.

Skipped where there is no kubectl; each test has a namespace of its own.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.control_plane import a_control_plane
from tests.support.kubectl import SECONDS, WHY_MISSING, Kubectl, is_missing

pytestmark = pytest.mark.skipif(is_missing(), reason=WHY_MISSING)

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {node-role.kubernetes.io/worker: ""}}
status: {allocatable: {cpu: "16", memory: 64Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}
status: {allocatable: {cpu: "16", memory: 64Gi, pods: "110"}}
"""
# pods are bound from the beginning, since nobody schedules here
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeName: n1
      terminationGracePeriodSeconds: 0
      containers:
      - {name: c, image: "nginx:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}
      - {name: side, image: "side:1"}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: p}}
spec: {nodeName: n1, terminationGracePeriodSeconds: 0, containers: [{name: c, image: nginx}]}
"""


class Place:
    """The server, and how to get a namespace of one's own."""

    def __init__(self, config: Path, home: Path) -> None:
        self._config = config
        self._home = home
        self._number = 0

    def kubectl(self) -> Kubectl:
        self._number += 1
        namespace = f"test-{self._number}"
        made = Kubectl(self._config, self._home, namespace)
        assert made("create", "namespace", namespace) == f"namespace/{namespace} created"
        return made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("kubectl")
    (folder / "nodes.yaml").write_text(NODES)
    config = folder / "config"
    with a_control_plane("--kubeconfig", str(config), str(folder / "nodes.yaml")) as process:
        yield Place(config, folder)
        code, _, err = process.end()
        assert (code, err) == (0, ""), "nothing went wrong inside"


@pytest.fixture
def kubectl(place: Place) -> Kubectl:
    return place.kubectl()


def soon(condition: Callable[[], object]) -> None:
    """Wait for something that happens soon."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# -- what there is


def test_discovery(kubectl: Kubectl) -> None:
    rows = kubectl.table("api-resources", "--no-headers")
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in rows
    assert ["nodes", "no", "v1", "false", "Node"] in rows
    assert {"apps/v1", "resource.k8s.io/v1", "v1"} <= set(kubectl("api-versions").splitlines())
    assert "Server Version: v1.36" in kubectl("version")
    assert "is running at https://" in kubectl("cluster-info")
    assert kubectl("get", "--raw", "/healthz") == "ok"
    assert '"kind":"APIResourceList"' in kubectl("get", "--raw", "/apis/apps/v1")


def test_explain(kubectl: Kubectl) -> None:
    found = kubectl("explain", "pod.spec.containers.ports")
    assert "FIELD: ports <[]ContainerPort>" in found
    assert "containerPort\t<integer> -required-" in found
    found = kubectl("explain", "deployments", "--recursive")
    assert "GROUP:      apps" in found
    assert "maxSurge\t<IntOrString>" in found
    assert "A Deployment keeps a number of pods" in found
    assert 'field "nope" does not exist' in kubectl.refused("explain", "pod.spec.nope")


def test_who_may_do_what(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "pods") == "yes"
    assert "kubernetes-admin" in kubectl("auth", "whoami")
    kubectl("create", "serviceaccount", "robot")
    kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods")
    namespace = kubectl.json("get", "serviceaccount", "robot")["metadata"]["namespace"]
    kubectl("create", "rolebinding", "robots", "--role=reader", f"--serviceaccount={namespace}:robot")
    robot = f"--as=system:serviceaccount:{namespace}:robot"
    assert kubectl("auth", "can-i", "list", "pods", robot) == "yes"
    assert kubectl.run("auth", "can-i", "delete", "pods", robot).stdout.strip() == "no"
    assert "pods" in kubectl("auth", "can-i", "--list", robot)
    assert "Forbidden" in kubectl.refused("get", "secrets", robot)


# -- create


CREATED = [
    ("configmap c --from-literal=a=b", "configmap/c"),
    ("secret generic s --from-literal=a=b", "secret/s"),
    ("serviceaccount a", "serviceaccount/a"),
    ("quota q --hard=pods=10", "resourcequota/q"),
    ("service clusterip one --tcp=80:8080", "service/one"),
    ("service nodeport two --tcp=80:8080", "service/two"),
    ("deployment d --image=nginx --replicas=2 --port=80", "deployment.apps/d"),
    ("job j --image=nginx -- sleep 1", "job.batch/j"),
    ("cronjob k --image=nginx --schedule=0_0_*_*_*", "cronjob.batch/k"),
    ("poddisruptionbudget b --selector=app=web --min-available=50%", "poddisruptionbudget.policy/b"),
    ("ingress i --rule=example.com/=one:80", "ingress.networking.k8s.io/i"),
]


def test_create_by_words(kubectl: Kubectl) -> None:
    for words, made in CREATED:
        assert kubectl("create", *(word.replace("_", " ") for word in words.split())) == f"{made} created"
    assert kubectl("get", "configmap", "c", "-o", "jsonpath={.data.a}") == "b"
    assert kubectl("get", "secret", "s", "-o", "jsonpath={.data.a}") == "Yg=="
    assert kubectl("get", "deployment", "d", "-o", "jsonpath={.spec.template.spec.containers[0].ports}") == (
        '[{"containerPort":80,"protocol":"TCP"}]'
    )
    assert kubectl("get", "cronjob", "k", "-o", "jsonpath={.spec.schedule}") == "0 0 * * *"
    assert kubectl("run", "x", "--image=nginx", "--labels=a=b") == "pod/x created"
    assert kubectl("expose", "deployment", "d", "--name=e") == "service/e exposed"
    assert "already exists" in kubectl.refused("create", "configmap", "c")
    assert kubectl("create", "configmap", "dry", "--dry-run=server") == "configmap/dry created (server dry run)"
    assert "NotFound" in kubectl.refused("get", "configmap", "dry")


# -- tables


def test_tables(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=POD)
    kubectl("wait", "pod/p", "--for=condition=Ready", f"--timeout={int(SECONDS)}s")
    header, row = kubectl.table("get", "pods", "-o", "wide")
    assert header == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"]
    assert (row[:4], row[6]) == (["p", "1/1", "Running", "0"], "n1")
    assert kubectl.table("get", "pods")[0] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert kubectl.table("get", "pods", "--show-labels")[1][-1] == "app=p"
    assert kubectl.table("get", "pods", "-L", "app")[1][-1] == "p"
    assert kubectl.table("get", "pods", "-A", "--field-selector=metadata.name=p")[0][0] == "NAMESPACE"
    assert kubectl("get", "pods", "--sort-by=.metadata.name").splitlines()[1].startswith("p ")
    assert kubectl("get", "pods", "-o", "custom-columns=N:.metadata.name,P:.status.phase").split() == [
        "N",
        "P",
        "p",
        "Running",
    ]
    header, first, _ = kubectl.table("get", "nodes")
    assert header == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert first[:3] == ["n1", "Ready", "worker"]
    assert kubectl.table("get", "namespace", "default")[1][:2] == ["default", "Active"]
    watching = kubectl.start("get", "pods", "-w")
    try:
        assert watching.stdout is not None
        assert watching.stdout.readline().split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
        assert watching.stdout.readline().split()[:3] == ["p", "1/1", "Running"]
        kubectl("delete", "pod", "p", "--wait=false")
        assert watching.stdout.readline().split()[:3] == ["p", "1/1", "Terminating"]
    finally:
        watching.kill()
        watching.communicate()


# -- apply and diff


def test_apply_on_the_clients_side(kubectl: Kubectl) -> None:
    assert kubectl("apply", "-f", "-", text=WEB) == "deployment.apps/web created"
    assert kubectl("apply", "-f", "-", text=WEB) == "deployment.apps/web unchanged"
    changed = (
        WEB.replace("nginx:1", "nginx:2").replace(', {name: B, value: "2"}', "").replace("replicas: 2", "replicas: 3")
    )
    found = kubectl.run("diff", "-f", "-", text=changed)
    assert found.returncode == 1, found.stderr
    assert "image: nginx:2" in found.stdout
    assert kubectl.run("diff", "-f", "-", text=WEB).returncode == 0
    # another's container and label stay, since they were never applied
    patch = '{"spec":{"template":{"spec":{"containers":[{"name":"mesh","image":"mesh:1"}]}}}}'
    kubectl("patch", "deployment", "web", "-p", patch)
    kubectl("label", "deployment", "web", "mine=yes")
    found = kubectl.run("apply", "-f", "-", text=changed)
    assert (found.stdout, found.stderr) == ("deployment.apps/web configured\n", "")
    web = kubectl.json("get", "deployment", "web")
    containers = {each["name"]: each for each in web["spec"]["template"]["spec"]["containers"]}
    assert containers.keys() == {"c", "side", "mesh"}
    assert (containers["c"]["image"], containers["c"]["env"]) == ("nginx:2", [{"name": "A", "value": "1"}])
    assert web["metadata"]["labels"] == {"app": "web", "mine": "yes"}
    mistyped = WEB.replace("replicas", "replicass")
    assert 'unknown field "spec.replicass"' in kubectl.refused("apply", "-f", "-", text=mistyped)


def test_apply_on_the_servers_side(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=WEB)
    # from the client's side to the server's, without conflicts
    assert kubectl("apply", "--server-side", "-f", "-", text=WEB) == "deployment.apps/web serverside-applied"
    assert "managedFields" not in kubectl("get", "deployment", "web", "-o", "yaml")
    shown = kubectl("get", "deployment", "web", "-o", "yaml", "--show-managed-fields")
    assert "f:replicas: {}" in shown
    assert "operation: Apply" in shown
    changed = WEB.replace("nginx:1", "nginx:2")
    complaint = kubectl.refused("apply", "--server-side", "--field-manager=other", "-f", "-", text=changed)
    assert 'Apply failed with 1 conflict: conflict with "kubectl"' in complaint
    assert '.spec.template.spec.containers[name="c"].image' in complaint
    taken = ("apply", "--server-side", "--force-conflicts", "--field-manager=other", "-f", "-")
    assert kubectl(*taken, text=changed) == "deployment.apps/web serverside-applied"
    image = "jsonpath={.spec.template.spec.containers[0].image}"
    assert kubectl("get", "deployment", "web", "-o", image) == "nginx:2"
    less = WEB.replace('      - {name: side, image: "side:1"}\n', "")
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=less)
    web = kubectl.json("get", "deployment", "web")
    assert len(web["spec"]["template"]["spec"]["containers"]) == 2, "the other wants it still"
    kubectl(*taken, text=less)
    web = kubectl.json("get", "deployment", "web")
    assert [each["name"] for each in web["spec"]["template"]["spec"]["containers"]] == ["c"]


# -- describe


def test_describe(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=POD)
    pod = kubectl.json("get", "pod", "p")["metadata"]
    reference = f"{{apiVersion: v1, kind: Pod, namespace: {pod['namespace']}, name: p, uid: {pod['uid']}}}"
    event = (
        "apiVersion: v1\nkind: Event\nmetadata: {name: e}\n"
        f"involvedObject: {reference}\nreason: Tested\nmessage: it was seen\ntype: Normal\n"
        "firstTimestamp: 2026-01-01T00:00:00Z\nlastTimestamp: 2026-01-01T00:00:00Z\ncount: 1\n"
        "source: {component: test}\n"
    )
    kubectl("create", "-f", "-", text=event)
    found = kubectl("describe", "pod", "p")
    assert "Node:             n1/" in found
    assert "Tested" in found
    assert "it was seen" in found
    assert "it was seen" in kubectl("events", "--for", "pod/p")
    assert kubectl.table("get", "events")[0] == ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    found = kubectl("describe", "node", "n1")
    assert "Roles:              worker" in found
    assert "Allocatable:" in found
    assert "p " in found.partition("Non-terminated Pods:")[2]
    kubectl("apply", "-f", "-", text=WEB)
    assert "RollingUpdateStrategy:  25% max unavailable, 25% max surge" in kubectl("describe", "deployment", "web")


# -- change


def test_patch_replace_and_delete(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    assert kubectl("patch", "configmap", "c", "--type=merge", "-p", '{"data":{"x":"y"}}') == "configmap/c patched"
    kubectl("patch", "configmap", "c", "--type=json", "-p", '[{"op":"remove","path":"/data/a"}]')
    assert kubectl.json("get", "configmap", "c")["data"] == {"x": "y"}
    assert kubectl("patch", "configmap", "c", "-p", '{"data":{"x":"y"}}') == "configmap/c patched (no change)"
    shown = kubectl("get", "configmap", "c", "-o", "yaml")
    changed = shown.replace('x: "y"', "x: other")
    assert kubectl("replace", "-f", "-", text=changed) == "configmap/c replaced"
    assert "the object has been modified" in kubectl.refused("replace", "-f", "-", text=shown)
    kubectl("annotate", "configmap", "c", "note=it")
    assert "data:" in kubectl("edit", "configmap", "c"), "the editor shows it and changes nothing"
    assert kubectl("delete", "configmap", "c").startswith('configmap "c" deleted')
    assert kubectl("delete", "configmap", "c", "--ignore-not-found") == ""


def test_roll_out(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text=WEB)
    status = ("rollout", "status", "deployment/web", f"--timeout={int(SECONDS)}s")
    assert kubectl(*status).endswith('deployment "web" successfully rolled out')
    assert kubectl("scale", "deployment", "web", "--replicas=3") == "deployment.apps/web scaled"
    assert kubectl("set", "image", "deployment/web", "c=nginx:2") == "deployment.apps/web image updated"
    assert kubectl(*status).endswith('deployment "web" successfully rolled out')
    assert kubectl.table("get", "deployment", "web", "--no-headers")[0][:4] == ["web", "3/3", "3", "3"]
    history = kubectl("rollout", "history", "deployment/web")
    assert [line.split()[0] for line in history.splitlines()[2:]] == ["1", "2"]
    assert kubectl("rollout", "undo", "deployment/web") == "deployment.apps/web rolled back"
    kubectl(*status)
    assert "nginx:1" in kubectl("get", "deployment", "web", "-o", "wide")
    assert kubectl("rollout", "restart", "deployment/web") == "deployment.apps/web restarted"
    kubectl(*status)
    assert kubectl("rollout", "pause", "deployment/web") == "deployment.apps/web paused"
    assert kubectl("rollout", "resume", "deployment/web") == "deployment.apps/web resumed"


def test_wait(kubectl: Kubectl) -> None:
    waiting = kubectl.start("wait", "--for=create", "pod/p", f"--timeout={int(SECONDS)}s")
    try:
        kubectl("apply", "-f", "-", text=POD)
        assert waiting.wait(SECONDS) == 0
    finally:
        waiting.kill()
        waiting.communicate()
    limit = f"--timeout={int(SECONDS)}s"
    assert kubectl("wait", "--for=condition=Ready", "pod/p", limit) == "pod/p condition met"
    assert kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/p", limit) == "pod/p condition met"
    waiting = kubectl.start("wait", "--for=delete", "pod/p", limit)
    try:
        kubectl("delete", "pod", "p")
        assert waiting.wait(SECONDS) == 0
    finally:
        waiting.kill()
        waiting.communicate()


DAEMON = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {kubernetes.io/hostname: n2}
      nodeName: n2
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: agent}]
"""
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""


def test_drain(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", text="---".join((WEB.replace("n1", "n2"), BUDGET, DAEMON)))
    limit = f"--timeout={int(SECONDS)}s"
    for name in ("deployment/web", "daemonset/agent"):
        kubectl("rollout", "status", name, limit)
    soon(lambda: kubectl.json("get", "pdb", "web")["status"]["currentHealthy"] == 2)
    assert "cannot delete DaemonSet-managed Pods" in kubectl.refused("drain", "n2")
    drain = ("drain", "n2", "--ignore-daemonsets")
    # the budget cannot bear it
    found = kubectl.run(*drain, "--timeout=2s")
    assert found.returncode == 1
    assert "Cannot evict pod as it would violate the pod's disruption budget" in found.stderr
    assert kubectl.table("get", "nodes", "--no-headers")[1][1] == "Ready,SchedulingDisabled"
    # a pod that nobody would bring back is not taken without being told to
    kubectl("apply", "-f", "-", text=POD.replace("n1", "n2"))
    assert "declare no controller" in kubectl.refused(*drain, "--timeout=2s")
    kubectl("delete", "pod", "p")
    kubectl("delete", "poddisruptionbudget", "web")
    # controllers put their pods back where their templates say, so nothing may want them
    kubectl("delete", "deployment", "web", "--cascade=orphan")
    kubectl("delete", "replicasets", "--all", "--cascade=orphan")
    found = kubectl.run(*drain, "--force", limit)
    assert found.returncode == 0, found.stderr
    assert "node/n2 drained" in found.stdout
    (left,) = kubectl("get", "pods", "-o", "name").splitlines()
    assert left.startswith("pod/agent-"), "what runs on every node stays"
    assert kubectl("uncordon", "n2") == "node/n2 uncordoned"
