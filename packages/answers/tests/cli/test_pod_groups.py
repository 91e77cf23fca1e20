"""Commands that ask about a gang, from the command line: what is printed first, and the exit code."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: node, labels: {kubernetes.io/hostname: node}}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "110"}, capacity: {cpu: "2", memory: 4Gi, pods: "110"}}
"""
GANG = """
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: ring}
spec: {schedulingPolicy: {gang: {minCount: 3}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: ring}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      schedulingGroup: {podGroupName: ring}
      containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]
"""
GATES = ("--feature-gates", "GenericWorkload=true,GangScheduling=true")

# the command, its exit code, what it prints with --quiet
CASES: dict[str, tuple[str, int, str]] = {
    "a gang that does not exist yet": (
        "explain pod -f gang.yaml",
        3,
        "Pod default/ring-0 would fit on node, but waits for its pod group to fit. The first without a place is "
        "default/ring-2: 1 lacks cpu. Gang default/ring needs 3 pods: 2 of the 3 that wait find a place.",
    ),
    "triage": ("explain --from gang.yaml", 3, "3 of 3 pending pods do not fit on 1 node, for 1 cause."),
    "what if it is created": ("whatif --apply gang.yaml", 3, "Of 3 pods 3 are new and stay pending."),
    "what if there is another node, too": ("whatif --apply gang.yaml --add-nodes 1=node", 0, "Of 3 pods 3 are new."),
    "capacity": (
        "capacity -f gang.yaml",
        3,
        "2 replicas of Job default/ring fit on 1 node; cpu runs out first, on 1 node. "
        "Gang default/ring needs 3, so none of them is placed.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_gang_is_asked_about(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, code, text = CASES[case]
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").write_text(CLUSTER)
    Path("gang.yaml").write_text(GANG)
    words = [*command.split(), "--from", "cluster.yaml", *GATES, "--quiet"]
    done = CliRunner(env={"COLUMNS": "300"}).invoke(main, words)
    assert done.output.strip() == text
    assert done.exit_code == code
