"""The commands of remedies, pasted into a shell: kubectl does them, and the pod goes to the named node.

A whole cluster with its scheduler and controllers; skipped where there is no kubectl.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from tests.support.control_plane import a_local_cluster
from tests.support.kubectl import SECONDS, WHY_MISSING, Kubectl, is_missing
from tests.support.programs import needs

from kubesched_answers.cluster import Cluster
from kubesched_answers.remedies.remedy import Remedy

pytestmark = [pytest.mark.skipif(is_missing(), reason=WHY_MISSING), needs("bash")]

CONTAINERS = "containers: [{name: main, image: web, resources: {requests: {cpu: '1'}}}]"
TEMPLATE = "template: {metadata: {labels: {case: CASE}}, spec: {SPEC}}"
# each has a node of its own, which is labelled with its name
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n-CASE, labels: {case: CASE, kubernetes.io/hostname: n-CASE}}
spec: {NODE}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "20"}, capacity: {cpu: "2", memory: 8Gi, pods: "20"}}
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: CASE, namespace: default, labels: {case: CASE}}
spec: {SPEC}
---
"""
SELECTOR = "selector: {matchLabels: {case: CASE}}"


def workload(kind: str, version: str, fields: str) -> str:
    return f"""
apiVersion: {version}
kind: {kind}
metadata: {{name: CASE, namespace: default}}
spec: {{{fields}, {TEMPLATE}}}
---
"""


HERE = f"nodeSelector: {{case: CASE}}, {CONTAINERS}"
LARGE = HERE.replace("cpu: '1'", "cpu: '3'")
LOWERED = "lower the cpu request of container main from 3 to 2"
# case -> its node, what wants a place there, the spec of its pods, and the remedy
CASES: dict[str, tuple[str, str, str, str]] = {
    "cordon": ("unschedulable: true", POD, HERE, "uncordon node n-cordon"),
    "taint": (
        "taints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: PreferNoSchedule}]",
        POD,
        HERE,
        "remove taint a=b:NoSchedule from node n-taint",
    ),
    "toleration": (
        "taints: [{key: a, value: b, effect: NoSchedule}]",
        POD,
        HERE,
        "add a toleration for taint a=b:NoSchedule",
    ),
    "label": ("", POD, HERE.replace("case: CASE", "case: CASE, disk: ssd"), "add label disk=ssd to node n-label"),
    "gate": ("", POD, f"schedulingGates: [{{name: wait}}], {HERE}", "remove scheduling gate wait"),
    "bare": ("", POD, LARGE, LOWERED),
    "deployment": ("", workload("Deployment", "apps/v1", SELECTOR), LARGE, LOWERED),
    "replicas": ("", workload("ReplicaSet", "apps/v1", SELECTOR), LARGE, LOWERED),
    "stateful": ("", workload("StatefulSet", "apps/v1", f"serviceName: a, {SELECTOR}"), LARGE, LOWERED),
    "daemon": ("", workload("DaemonSet", "apps/v1", SELECTOR), LARGE, LOWERED),
    "job": ("", workload("Job", "batch/v1", "completions: 1"), f"restartPolicy: Never, {LARGE}", LOWERED),
    "claim": (
        "",
        POD,
        f"volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}], {HERE}",
        "create claim default/data of storage class standard",
    ),
}


def manifests() -> str:
    texts = [
        (NODE + pods).replace("SPEC", spec).replace("NODE", node).replace("CASE", case)
        for case, (node, pods, spec, _) in CASES.items()
    ]
    return "".join(texts)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("remedies")
    (folder / "cluster.yaml").write_text(manifests())
    own = {"XDG_STATE_HOME": str(folder)}
    with a_local_cluster("--kubeconfig", str(folder / "config"), str(folder / "cluster.yaml"), **own) as process:
        yield folder
        code, _, err = process.end()
        assert (code, err) == (0, ""), "nothing went wrong inside"


Found = TypeVar("Found")


def eventually(ask: Callable[[], Found | None]) -> Found:
    """Return the first answer to a question."""
    deadline = time.monotonic() + SECONDS
    while (found := ask()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_commands_of_a_remedy(home: Path, case: str) -> None:
    kubectl = Kubectl(home / "config", home, "default")

    def remedy() -> Remedy | None:
        cluster = Cluster.connect(kubeconfig=str(home / "config"))
        pods = kubectl.json("get", "pods", "-l", f"case={case}")["items"]
        names = [f"default/{pod['metadata']['name']}" for pod in pods if not pod["spec"].get("nodeName")]
        found = [
            each for name in names[:1] for each in cluster.explain(name).remedies if each.summary == CASES[case][3]
        ]
        return found[0] if found else None

    def place() -> str | None:
        pods = kubectl.json("get", "pods", "-l", f"case={case}")["items"]
        there = {pod["spec"].get("nodeName") for pod in pods if not pod["metadata"].get("deletionTimestamp")}
        return None if None in there or len(there) != 1 else next(iter(there))

    found = eventually(remedy)
    assert found.commands
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-euo", "pipefail", "-c", "\n".join(found.commands)],
        env={**os.environ, "KUBECONFIG": str(home / "config"), "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, (found.commands, done.stderr)
    assert eventually(place) == found.node == f"n-{case}"
