"""What `whatif --drain` foretells is what happens when kubectl drains the node of a cluster of `kubesched up`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support import kubectl

SECONDS = 240.0

CLUSTER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 5, selector: {matchLabels: {app: web}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: pinned}
spec:
  selector: {matchLabels: {app: pinned}}
  template:
    metadata: {labels: {app: pinned}}
    spec:
      nodeSelector: {kubernetes.io/hostname: node-1}
      containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: alone, labels: {app: alone}}
spec:
  nodeSelector: {kubernetes.io/hostname: node-1}
  containers: [{name: c, image: i}]
"""

# runs beside the cluster, with KUBECONFIG set
STORY = """
import json, subprocess, sys

def ran(*words):
    found = subprocess.run(words, capture_output=True, text=True, timeout=200)
    if found.returncode not in (0, 3):
        sys.exit(f"{words}: {found.stderr}")
    return found.stdout

def pods():
    items = json.loads(ran("kubectl", "get", "pods", "-o", "json"))["items"]
    return {each["metadata"]["name"]: {"app": each["metadata"]["labels"]["app"], "node": each["spec"].get("nodeName")}
            for each in items if "deletionTimestamp" not in each["metadata"]}

def settled():
    for name in ("deployment/web", "daemonset/agent"):
        ran("kubectl", "rollout", "status", name, "--timeout=100s")
    ran("kubectl", "wait", "pdb/web", "--for=jsonpath={.status.currentHealthy}=6", "--timeout=100s")

settled()
for name in ("deployment/pinned",):
    ran("kubectl", "rollout", "status", name, "--timeout=100s")
ran("kubectl", "wait", "pod/alone", "--for=condition=Ready", "--timeout=100s")
before = pods()
foretold = json.loads(ran(sys.executable, "-m", "kubesched", "whatif", "--drain", "node-1", "--force", "-o", "json"))
ran("kubectl", "drain", "node-1", "--ignore-daemonsets", "--force", "--timeout=100s")
settled()
ran("kubectl", "wait", "pod", "-l", "app=pinned", "--for=condition=PodScheduled=False", "--timeout=100s")
print(json.dumps({"before": before, "foretold": foretold, "after": pods()}))
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("live")
    file = folder / "cluster.yaml"
    file.write_text(CLUSTER)
    up = ["with-cluster", "--nodes", "4", "--cpu", "4", "--memory", "8Gi", str(file), "--", sys.executable, "-c", STORY]
    found = subprocess.run(
        [sys.executable, "-m", "kubesched", *up], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert found.returncode == 0, found.stderr
    told: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return told


@pytest.mark.skipif(kubectl.is_missing(), reason=kubectl.WHY_MISSING)
class TestDrain:
    """A drain, foretold and done."""

    def test_the_pods_that_leave_are_those_that_were_foretold(self, story: dict[str, Any]) -> None:
        gone = {f"default/{name}" for name in story["before"]} - {f"default/{name}" for name in story["after"]}
        changes = story["foretold"]["changes"]
        assert {change["pod"] for change in changes} == gone
        evicted = {pod for each in story["foretold"]["steps"][0]["rounds"] for pod in each["pods"]}
        assert evicted == gone

    def test_the_number_of_pods_by_app_and_state_is_as_foretold(self, story: dict[str, Any]) -> None:
        before, after = story["before"], story["after"]
        where = {f"default/{name}": pod["node"] for name, pod in before.items()}
        app = {f"default/{name}": pod["app"] for name, pod in before.items()}
        for change in story["foretold"]["changes"]:
            where[change["pod"]] = change.get("toNode")
            if change["change"] == "lost":
                del where[change["pod"]]
        foretold = sorted((app[name], node is not None) for name, node in where.items())
        assert foretold == sorted((pod["app"], pod["node"] is not None) for pod in after.values())
        assert [kind for kind, placed in foretold if not placed] == ["pinned"]

    def test_what_is_left_on_the_node_is_as_foretold(self, story: dict[str, Any]) -> None:
        left = [f"default/{name}" for name, pod in story["after"].items() if pod["node"] == "node-1"]
        assert left == [each["pod"] for each in story["foretold"]["steps"][0]["left"]]
