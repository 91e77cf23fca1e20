"""`kubesched whatif`: the texts that it prints, the JSON, its exit codes, and what it says to wrong words."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.support.whatif import a_kept_budget

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.cli import main
from kubesched.testing import a_node, a_pod

WEB: dict[str, Any] = {"labels": {"app": "web"}, "owner": "ReplicaSet/web", "cpu": "1", "memory": "1Gi"}
CLUSTER: list[ApiObject] = [
    *(a_node(f"node-{letter}", cpu="4", memory="8Gi", zone=letter) for letter in "abc"),
    *(a_pod(f"web-{number}", node=f"node-{'abc'[number % 3]}", **WEB) for number in range(4)),
    a_pod("agent-a", node="node-a", owner="DaemonSet/agent", cpu="100m"),
    a_pod("alone", node="node-a", cpu="500m"),
    a_pod("large", cpu="8"),
    a_kept_budget("web", "app=web", max_unavailable=1),
]

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: c, image: shop, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [to_builtins(obj) for obj in CLUSTER]}))
    return file


def run(cluster: Path, *words: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, ["whatif", *words, "--from", str(cluster)])


DRAIN = """\
Of 7 pods 2 move, 1 stays pending, 1 is lost, 3 stay.

Steps
STEP  OPERATION          RESULT
   1  drain node node-a  3 pods are evicted in 2 rounds

Order of the drain
NODE    ROUND  EVICTED
node-a      1  default/alone, default/web-0
node-a      2  default/web-3

Left on their nodes
POD              NODE    WHY
default/agent-a  node-a  runs on every node (DaemonSet)

Pods
"""


def test_a_drain_as_a_table(cluster: Path) -> None:
    result = run(cluster, "--drain", "node-a", "--force")
    assert result.exit_code == 3, result.output
    assert result.stdout.startswith(DRAIN)
    table = result.stdout[len(DRAIN) :]
    assert [line.split()[:6] for line in table.splitlines() if line.startswith("default/")] == [
        ["default/alone", "is", "lost", "node-a", "it", "has"],
        ["default/web-0", "moves", "node-a", "node-b"],
        ["default/web-3", "moves", "node-a", "node-c"],
    ]
    assert (
        "Pending as before\n"
        "PODS  WHY                                                                        WHICH\n"
        "   1  0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu  default/large\n"
    ) in table
    sums = table[table.index("Cluster\n") : table.index("Zones\n")]
    assert sums == (
        "Cluster\n"
        "                                  BEFORE              AFTER\n"
        "nodes                                  3                  3\n"
        "pods on nodes                          6                  5\n"
        "pods pending                           1                  1\n"
        "cpu requested            4.6 of 12 (38%)    4.1 of 12 (34%)\n"
        "memory requested       4Gi of 24Gi (17%)  4Gi of 24Gi (17%)\n"
        "pods requested             6 of 330 (2%)      5 of 330 (2%)\n"
        "largest pod: cpu                       3                  2\n"
        "largest pod: memory                  7Gi                6Gi\n"
        "stranded cpu                           0                  0\n"
        "stranded memory                        0                  0\n"
        "mean skew over zones                   1                  2\n"
        "worst skew over zones                  1                  2\n\n"
    )


def test_a_drain_as_json(cluster: Path) -> None:
    answer = json.loads(run(cluster, "--drain", "node-a", "--force", "-o", "json").stdout)
    fields = ["fits", "summary", "steps", "counts", "changes", "before", "after", "spread", "gaps"]
    assert list(answer) == [*fields, "unfinished", "anyway"]
    [step] = answer["steps"]
    assert step == {
        "operation": "drain node node-a",
        "message": "3 pods are evicted in 2 rounds",
        "nodes": ["node-a"],
        "rounds": [
            {"node": "node-a", "number": 1, "pods": ["default/alone", "default/web-0"]},
            {"node": "node-a", "number": 2, "pods": ["default/web-3"]},
        ],
        "heldUp": [],
        "left": [{"pod": "default/agent-a", "node": "node-a", "why": "runs on every node (DaemonSet)"}],
        "refused": [],
    }
    last = answer["changes"][-1]
    assert last.pop("replacedBy").startswith("default/web-")
    assert last == {
        "pod": "default/web-3",
        "change": "moves",
        "owner": "ReplicaSet default/web",
        "fromNode": "node-a",
        "toNode": "node-c",
    }
    assert answer["counts"] == {"lost": 1, "stays-pending": 1, "moves": 2, "stays": 3}


def test_operations_are_tried_in_the_order_given(cluster: Path) -> None:
    words = ["--cordon", "node-a", "--scale", "rs/web=6", "--cordon", "node-b", "--delete", "po/large", "-o", "json"]
    answer = json.loads(run(cluster, *words).stdout)
    assert [step["operation"] for step in answer["steps"]] == [
        "cordon node node-a",
        "scale ReplicaSet default/web to 6",
        "cordon node node-b",
        "delete Pod default/large",
    ]


def test_every_pod_with_a_place_is_exit_code_0(cluster: Path) -> None:
    result = run(cluster, "--delete", "pod/large", "--cordon", "topology.kubernetes.io/zone=a", "-q")
    assert (result.exit_code, result.stdout) == (0, "Of 7 pods 1 is deleted, 6 stay.\n")


def test_pods_that_are_pending_as_before_are_exit_code_0(cluster: Path) -> None:
    result = run(cluster, "--cordon", "node-a")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "Of 7 pods 1 stays pending, 6 stay.\n\n"
        "Steps\nSTEP  OPERATION           RESULT\n   1  cordon node node-a\n\n"
        "Pending as before\n"
    )


def test_new_nodes_that_do_not_help_are_exit_code_3(cluster: Path) -> None:
    assert run(cluster, "--add-nodes", "2=node-a", "-q").exit_code == 3


def test_a_manifest_is_applied(cluster: Path, tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(DEPLOYMENT)
    answer = json.loads(run(cluster, "--apply", str(file), "-o", "json").stdout)
    new = [change for change in answer["changes"] if change["change"] == "new"]
    assert [change["owner"] for change in new] == ["Deployment default/shop"] * 2
    assert all(change["pod"].startswith("default/shop-") for change in new)


def test_nodes_are_added_from_a_file(cluster: Path, tmp_path: Path) -> None:
    file = tmp_path / "node.json"
    file.write_text(json.dumps(to_builtins(a_node("big", cpu="16")) | {"apiVersion": "v1", "kind": "Node"}))
    result = run(cluster, "--add-nodes", f"1={file}", "-q")
    assert (result.exit_code, result.stdout) == (0, "Of 7 pods 1 becomes bound, 6 stay.\n")


def test_a_taint_has_kubectls_syntax(cluster: Path) -> None:
    words = ["--taint", "node-a,node-b", "broken=yes:NoExecute", "-o", "json"]
    answer = json.loads(run(cluster, *words).stdout)
    assert answer["steps"][0]["operation"] == "taint nodes node-a, node-b broken=yes:NoExecute"
    assert answer["counts"]["moves"] == 3


PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}, {name: PodTopologySpread}]}}
"""


def test_two_configurations_are_compared(cluster: Path, tmp_path: Path) -> None:
    file = tmp_path / "packing.yaml"
    file.write_text(PACKING)
    spread = tmp_path / "spread.yaml"
    spread.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    words = ["--config", str(spread), "--config", str(file), "--reschedule", "all", "-o", "json"]
    answer = json.loads(run(cluster, *words).stdout)
    assert (answer["first"]["name"], answer["second"]["name"]) == (str(spread), str(file))
    assert answer["pods"] == 6
    assert answer["same"] + len(answer["differences"]) == 6
    first = answer["differences"][0]
    assert first["firstNode"] != first["secondNode"]
    best = {each["node"]: each["total"] for each in first["secondScores"]}
    assert best[first["secondNode"]] >= best[first["firstNode"]]
    table = run(cluster, *words[:-2]).stdout
    assert "Placements that differ" in table


def test_a_weight_is_compared_with_the_configuration_without_it(cluster: Path) -> None:
    result = run(cluster, "--weight", "NodeResourcesFit=0", "--compare", "--reschedule", "all", "-o", "json")
    answer = json.loads(result.stdout)
    assert (answer["first"]["name"], answer["second"]["name"]) == (
        "the defaults",
        "the defaults with NodeResourcesFit=0",
    )


def test_consolidation_names_the_nodes_and_where_their_pods_go(cluster: Path) -> None:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["whatif", "consolidate", "--from", str(cluster)])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(
        "1 of 3 nodes can be emptied by moving 1 pod.\n"
        "That frees 4 cpu and 8Gi memory. Cordon all of them first, then drain in this order.\n\n"
        "Nodes to empty\n"
        "STEP  NODE    CPU  MEMORY  PODS AND THEIR NEW NODES\n"
        "   1  node-b    4     8Gi  default/web-1 to node-c\n\n"
        "Nodes that stay\n"
        "NODE    WHY\n"
        "node-a  pod default/alone has no controller\n\n"
    )


WRONG: dict[str, tuple[list[str], str]] = {
    "a node that is not there": (
        ["--drain", "node-d"],
        "there is no node node-d; did you mean node-c or node-b or node-a?",
    ),
    "a selector without nodes": (
        ["--drain", "topology.kubernetes.io/zone=q"],
        "no node matches the label selector topology.kubernetes.io/zone=q; "
        "nodes have topology.kubernetes.io/zone a, b, c",
    ),
    "a selector that is none": (["--drain", "a in ("], "unable to parse requirement"),
    "a workload that is not there": (["--scale", "rs/wbe=3"], "there is no ReplicaSet wbe; did you mean web?"),
    "a kind that is not there": (["--scale", "deplyo/web=3"], "there is no kind deplyo; did you mean deploy"),
    "a scale without a number": (["--scale", "rs/web"], "--scale rs/web: write KIND/NAME=N, such as deploy/web=9"),
    "a pod that is not there": (["--delete", "pod/larg"], "there is no Pod larg; did you mean large"),
    "a budget that is not there": (["--delete", "pdb/wep"], "there is no PodDisruptionBudget wep; did you mean web?"),
    "nodes without a number": (["--add-nodes", "node-a"], "--add-nodes node-a: write N=LIKE, such as 3=node-1"),
    "a taint without an effect": (["--taint", "node-a", "k=v"], "taint k=v: write it as key=value:Effect"),
    "a weight of no plugin": (
        ["--weight", "NodeResourceFit=3"],
        "no profile enables a plugin NodeResourceFit; did you mean NodeResourcesFit",
    ),
    "a weight that is no number": (["--weight", "NodeResourcesFit=x"], "weight NodeResourcesFit=x: write PLUGIN=W"),
    "a gate that is not there": (["--kubernetes-gates", "Nope=true"], "unrecognized feature gate: Nope"),
    "a file that is not there": (["--apply", "nowhere.yaml"], "nowhere.yaml: No such file or directory"),
    "a configuration that is not there": (["--config", "nowhere.yaml"], "nowhere.yaml"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_words_get_one_line(cluster: Path, case: str) -> None:
    words, expected = WRONG[case]
    result = run(cluster, *words)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert expected in line


ORDERED = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: db, resources: {requests: {cpu: "7"}}}]}
"""


def test_a_workload_that_does_not_finish_is_a_row_with_its_pending_pods(cluster: Path, tmp_path: Path) -> None:
    (tmp_path / "db.yaml").write_text(ORDERED)
    result = run(cluster, "--apply", str(tmp_path / "db.yaml"))
    assert result.exit_code == 3, result.output
    table = result.output.partition("Unfinished\n")[2].partition("\n\n")[0]
    heading, first, *_ = table.splitlines()
    assert heading.split() == ["WORKLOAD", "WHY", "PENDING", "PODS"]
    assert first.startswith("StatefulSet default/db  it waits for a pod to be ready")
    assert "default/db-0" in table
