"""What docs/guides/operator/integrations.md says of fields that other tools read, and of the jobs that it shows."""

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.documents.test_documents import ROOT, blocks, options_of
from tests.support.api_client import ApiClient
from tests.support.control_plane import a_local_cluster
from tests.support.kubectl import WHY_MISSING, Kubectl, is_missing
from tests.support.processes import eventually

PAGE = ROOT / "docs/guides/operator/integrations.md"
PODS = """\
apiVersion: batch/v1
kind: Job
metadata: {name: suspended}
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: gated}
spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}], containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: giant}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "900"}}}]}
"""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: big}
status: {allocatable: {cpu: "1000", memory: 64Gi, pods: "110"}}
"""


def test_jobs_of_gitlab_call_commands_that_exist() -> None:
    (text,) = blocks(PAGE, "yaml")
    (line,) = (line for line in yaml.safe_load(text)["test"]["script"] if line.startswith("kubesched "))
    command, given = options_of(shlex.split(line.partition(" -- ")[0])[1:])
    assert command.name == "with-cluster"
    known = {name for option in command.params for name in option.opts}
    assert {word for word in given if word.startswith("-")} <= known


@pytest.mark.slow
@pytest.mark.skipif(is_missing(), reason=WHY_MISSING)
def test_what_queues_and_autoscalers_read_and_write(tmp_path: Path) -> None:
    with a_local_cluster("--nodes", "1", "--name", "integrations") as cluster:
        api, kubectl = ApiClient(cluster.kubeconfig), Kubectl(cluster.kubeconfig, tmp_path)

        def pod(name: str) -> dict[str, Any]:
            return api.get("Pod", name) or {}

        def reason(name: str) -> str:
            conditions = pod(name).get("status", {}).get("conditions", [])
            return next((each["reason"] for each in conditions if each["type"] == "PodScheduled"), "")

        def node(name: str) -> str:
            return str(pod(name).get("spec", {}).get("nodeName", ""))

        kubectl("apply", "-f", "-", text=PODS)
        eventually(lambda: reason("giant") == "Unschedulable", "an autoscaler would add a node")
        assert reason("gated") == "SchedulingGated"
        assert kubectl("get", "pods", "-l", "job-name=suspended", "-o", "name") == ""
        kubectl("patch", "pod", "gated", "--type=merge", "-p", '{"spec": {"schedulingGates": []}}')
        kubectl("patch", "job", "suspended", "--type=merge", "-p", '{"spec": {"suspend": false}}')
        eventually(lambda: node("gated"), "the admitted pod has a node")
        eventually(lambda: kubectl("get", "pods", "-l", "job-name=suspended", "-o", "name"), "the job has a pod")
        kubectl("create", "-f", "-", text=NODE)
        eventually(lambda: node("giant") == "big", "the new node is used")
