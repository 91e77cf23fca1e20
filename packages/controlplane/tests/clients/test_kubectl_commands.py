"""The commands of kubectl one after the other, against a whole cluster with a scheduler: each works or says why not.

Skipped where there is no kubectl; each test has a namespace of its own.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.control_plane import a_local_cluster
from tests.support.kubectl import SECONDS, WHY_MISSING, Kubectl, is_missing

pytestmark = pytest.mark.skipif(is_missing(), reason=WHY_MISSING)

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "16", memory: 64Gi, pods: "110"}}
"""
LIMIT = f"--timeout={int(SECONDS)}s"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("commands")
    (folder / "nodes.yaml").write_text(NODES)
    own = {"XDG_STATE_HOME": str(folder)}
    with a_local_cluster("--kubeconfig", str(folder / "config"), str(folder / "nodes.yaml"), **own) as process:
        yield folder
        code, _, err = process.end()
        assert (code, err) == (0, ""), "nothing went wrong inside"


@pytest.fixture
def kubectl(home: Path, request: pytest.FixtureRequest) -> Kubectl:
    namespace = request.node.name.replace("_", "-").replace("[", "-").replace("]", "")[:60]
    made = Kubectl(home / "config", home, namespace)
    made("create", "namespace", namespace)
    return made


def with_a_deployment(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2", "--port=80")
    kubectl("rollout", "status", "deployment/web", LIMIT)


# -- what needs more than an API server


def with_a_pod(kubectl: Kubectl) -> None:
    # it runs as long as the test does, however slow the machine is
    kubectl("run", "one", "--image=busybox", "--restart=Never", "--annotations=kubesched.io/run-seconds=inf")
    kubectl("wait", "--for=condition=Ready", "pod/one", LIMIT)


NOBODY = "pod one is on the simulated node n1: nothing runs in it, so "
REFUSED = [
    (("logs", "one"), f"{NOBODY}there are no logs"),
    (("logs", "one", "--previous"), f"{NOBODY}there are no logs"),
    (("logs", "-l", "run=one", "--tail=5"), f"{NOBODY}there are no logs"),
    (("exec", "one", "--", "ls"), f"{NOBODY}no command can be executed"),
    (("attach", "one"), f"{NOBODY}there is nothing to attach to"),
    (("port-forward", "pod/one", ":80"), f"{NOBODY}there are no ports to forward to"),
    (("cp", __file__, "one:/tmp/x"), f"{NOBODY}no command can be executed"),
    (("logs", "one", "-c", "x"), "container x is not valid for pod one"),
    (("logs", "none"), 'pods "none" not found'),
    (("get", "componentstatuses"), "the server doesn't have a resource type"),
    (("get", "--raw", "/api/v1/nodes/n1/proxy/metrics"), "node n1 is simulated"),
]


def test_what_only_a_machine_could_do_is_refused_at_once(kubectl: Kubectl) -> None:
    with_a_pod(kubectl)
    for words, complaint in REFUSED:
        assert complaint in kubectl.refused(*words), words


def test_what_needs_no_machine_is_done(kubectl: Kubectl) -> None:
    container = {"name": "two", "image": "busybox", "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}}
    kubectl("run", "two", "--image=busybox", "--overrides", json.dumps({"spec": {"containers": [container]}}))
    kubectl("wait", "--for=condition=Ready", "pod/two", LIMIT)
    assert kubectl("top", "pod", "two", "--no-headers").split() == ["two", "250m", "1024Mi"]
    assert "n1" in kubectl("top", "nodes")
    kubectl("debug", "two", "--image=busybox", "--container=debugger")
    assert kubectl("get", "pod", "two", "-o", "jsonpath={.spec.ephemeralContainers[0].name}") == "debugger"
    assert kubectl("create", "token", "default").count(".") == 2


def test_the_log_of_a_pod_that_waits_is_empty(kubectl: Kubectl) -> None:
    kubectl("run", "large", "--image=busybox", "--overrides", overrides(cpu="1000"))
    assert kubectl("logs", "large") == ""


def overrides(cpu: str) -> str:
    container = {"name": "large", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}
    return json.dumps({"spec": {"containers": [container]}})


# -- autoscalers


def test_autoscale(kubectl: Kubectl) -> None:
    with_a_deployment(kubectl)
    words = ("autoscale", "deployment", "web", "--min=1", "--max=5", "--cpu-percent=70")
    assert kubectl(*words) == "horizontalpodautoscaler.autoscaling/web autoscaled"
    header, row = kubectl.table("get", "hpa")
    assert header == ["NAME", "REFERENCE", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "AGE"]
    assert row[:6] == ["web", "Deployment/web", "cpu: <unknown>/70%", "1", "5", "0"]
    assert "as a percentage of request" in kubectl("describe", "hpa", "web")
    old = "horizontalpodautoscalers.v1.autoscaling"
    assert kubectl("get", old, "web", "-o", "jsonpath={.spec.targetCPUUtilizationPercentage}") == "70"
    assert "targetCPUUtilizationPercentage" in kubectl("explain", "hpa.spec", "--api-version=autoscaling/v1")
    text = kubectl("get", old, "web", "-o", "yaml").replace("maxReplicas: 5", "maxReplicas: 7")
    assert kubectl("replace", "-f", "-", text=text) == "horizontalpodautoscaler.autoscaling/web replaced"
    assert kubectl("get", "hpa", "web", "-o", "jsonpath={.spec.maxReplicas}") == "7"


# -- jobs


def test_a_job_from_a_cron_job(kubectl: Kubectl) -> None:
    kubectl("create", "cronjob", "c", "--image=busybox", "--schedule=0 0 1 1 *", "--", "date")
    assert kubectl("create", "job", "j", "--from=cronjob/c") == "job.batch/j created"
    assert kubectl("get", "job", "j", "-o", "jsonpath={.metadata.ownerReferences[0].name}") == "c"
    kubectl("wait", "--for=condition=Complete", "job/j", LIMIT)
    assert kubectl.table("get", "jobs")[1][:3] == ["j", "Complete", "1/1"]


# -- changes


SET = [
    (("image", "deployment/web", "nginx=nginx:2"), "image updated", "{.image}", "nginx:2"),
    (("env", "deployment/web", "A=b"), "env updated", "{.env[0].value}", "b"),
    (
        ("resources", "deployment/web", "--requests=cpu=10m"),
        "resource requirements updated",
        "{.resources.requests.cpu}",
        "10m",
    ),
]


def test_set(kubectl: Kubectl) -> None:
    with_a_deployment(kubectl)
    for words, said, place, value in SET:
        assert kubectl("set", *words) == f"deployment.apps/web {said}"
        path = f"jsonpath={{.spec.template.spec.containers[0]{place[1:]}"
        assert kubectl("get", "deployment", "web", "-o", path) == value
    assert kubectl("set", "serviceaccount", "deployment/web", "robot") == "deployment.apps/web serviceaccount updated"
    kubectl("expose", "deployment", "web")
    assert kubectl("set", "selector", "service/web", "x=y") == "service/web selector updated"


def test_label_annotate_taint_and_cordon(kubectl: Kubectl) -> None:
    with_a_pod(kubectl)
    assert kubectl("label", "pod", "one", "a=b") == "pod/one labeled"
    assert "already has a value (b)" in kubectl.refused("label", "pod", "one", "a=c")
    kubectl("label", "pod", "one", "a=c", "--overwrite")
    assert kubectl("label", "pod", "one", "a-") == "pod/one unlabeled"
    assert kubectl("annotate", "pod", "one", "x=y") == "pod/one annotated"
    assert kubectl("taint", "node", "n1", "a=b:PreferNoSchedule") == "node/n1 tainted"
    assert kubectl("taint", "node", "n1", "a:PreferNoSchedule-") == "node/n1 untainted"
    assert kubectl("cordon", "n1") == "node/n1 cordoned"
    assert kubectl("uncordon", "n1") == "node/n1 uncordoned"


def test_scale_with_conditions_and_history(kubectl: Kubectl) -> None:
    with_a_deployment(kubectl)
    assert "Expected replicas to be 9, was 2" in kubectl.refused(
        "scale", "deployment/web", "--replicas=3", "--current-replicas=9"
    )
    assert kubectl("scale", "deployment/web", "--replicas=3", "--current-replicas=2") == "deployment.apps/web scaled"
    kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    kubectl("rollout", "status", "deployment/web", LIMIT)
    assert "Image:\tnginx:2" in kubectl("rollout", "history", "deployment/web", "--revision=2")
    assert kubectl("rollout", "undo", "deployment/web", "--to-revision=1") == "deployment.apps/web rolled back"
    assert "unable to find specified revision 9" in kubectl.refused(
        "rollout", "undo", "deployment/web", "--to-revision=9"
    )


def test_edit_the_last_applied_and_reconcile(kubectl: Kubectl) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n"
    kubectl("apply", "-f", "-", text=text)
    assert "a: b" in kubectl("apply", "view-last-applied", "configmap/c")
    assert "a: b" in kubectl("edit", "configmap/c"), "the editor shows it and changes nothing"
    assert kubectl("replace", "--force", "-f", "-", text=text).endswith("configmap/c replaced")
    namespace = kubectl("get", "configmap", "c", "-o", "jsonpath={.metadata.namespace}")
    role = (
        f"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: r, namespace: {namespace}}}\n"
        'rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]\n'
    )
    assert "reconciled" in kubectl("auth", "reconcile", "-f", "-", text=role)


# -- what is shown


def test_ways_to_show(kubectl: Kubectl) -> None:
    with_a_deployment(kubectl)
    names = kubectl("get", "pods", "-o", "name").split()
    ranged = kubectl("get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name} {end}")
    assert [f"pod/{name}" for name in ranged.split()] == names
    assert kubectl("get", "pods", "-o", "go-template={{len .items}}") == "2"
    shown = kubectl("get", "all")
    assert all(name in shown for name in ("deployment.apps/web", "replicaset.apps/web-", "pod/web-"))
    assert len(kubectl.table("get", "pods", "--field-selector=status.phase=Running", "--no-headers")) == 2
    assert "field label not supported: nope" in kubectl.refused("get", "pods", "--field-selector=nope=1")
    assert "doesn't have a resource type" in kubectl.refused("get", "nope")
    reasons = {line[2] for line in kubectl.table("events", "--no-headers")}
    assert {"Scheduled", "SuccessfulCreate", "ScalingReplicaSet"} <= reasons
    ordered = kubectl.table("get", "events", "--sort-by=.metadata.creationTimestamp", "--no-headers")
    assert {line[2] for line in ordered} == reasons


def test_what_there_is(kubectl: Kubectl) -> None:
    names = kubectl("api-resources", "--namespaced=true", "-o", "name").splitlines()
    assert {"pods", "horizontalpodautoscalers.autoscaling", "endpointslices.discovery.k8s.io"} <= set(names)
    rows = kubectl.table("api-resources", "--api-group=autoscaling", "--no-headers")
    assert rows == [["horizontalpodautoscalers", "hpa", "autoscaling/v2", "true", "HorizontalPodAutoscaler"]]
    assert {"autoscaling/v1", "autoscaling/v2"} <= set(kubectl("api-versions").splitlines())
    assert kubectl("auth", "can-i", "get", "pods/log") == "yes"
    assert kubectl("auth", "can-i", "*", "*") == "yes"
    assert "Groups" in kubectl("auth", "whoami")


def test_everything_goes(kubectl: Kubectl) -> None:
    with_a_deployment(kubectl)
    kubectl("expose", "deployment", "web")
    kubectl("autoscale", "deployment", "web", "--max=5", "--cpu-percent=70")
    said = kubectl("delete", "all", "--all", LIMIT)
    assert 'deployment.apps "web"' in said
    assert 'horizontalpodautoscaler.autoscaling "web"' in said
    assert kubectl("get", "all") == ""
