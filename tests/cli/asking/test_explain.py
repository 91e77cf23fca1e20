"""`kubesched explain` on a small cluster: what is printed, and the exit code."""

import json
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from kubesched.asking.cluster_objects import ClusterObjects
from kubesched.asking.sources.snapshots import written
from kubesched.cli import main
from kubesched.testing import a_budget, a_node, a_pod

CREATED = "2026-01-01T00:00:00Z"
OBJECTS = (
    a_node("a", cpu="2", zone="z1"),
    a_node("b", cpu="4", zone="z2", taints=["spot=yes:NoSchedule"]),
    a_node("c", cpu="4", zone="z2", unschedulable=True),
    a_node("d", cpu="4", labels={"disk": "ssd"}),
    a_pod("there", namespace="shop", cpu="1500m", node="a"),
    a_pod("cart", namespace="shop", cpu="3", node="d", priority=10, labels={"app": "cart"}, owner="ReplicaSet/cart"),
    a_budget("keep", "app=cart", namespace="shop"),
    a_pod("big", namespace="shop", cpu="3", priority=100, created=CREATED),
    a_pod("small", namespace="shop", cpu="100m", created=CREATED),
    a_pod("gated", namespace="shop", gates=["quota"], created=CREATED),
)


TOLERATION = (
    "kubectl patch -n shop pod big --type=json -p "
    """'[{"op":"add","path":"/spec/tolerations","value":"""
    """[{"key":"spot","operator":"Equal","value":"yes","effect":"NoSchedule"}]}]'"""
)


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """Return the name of a snapshot of the cluster, taken a day after its pods were created."""
    file = tmp_path / "cluster.snapshot"
    file.write_bytes(written(ClusterObjects(OBJECTS, taken_at=datetime(2026, 1, 2, tzinfo=UTC))))
    return str(file)


def explain(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "110"}).invoke(main, ["explain", *words])


def test_a_pending_pod(snapshot: str) -> None:
    done = explain("pod", "shop/big", "--from", snapshot)
    assert done.output.replace(TOLERATION, "{TOLERATION}") == dedent("""\
        Pod shop/big does not fit on any of 4 nodes: 2 lack cpu, 1 has a taint that it does not tolerate, 1 is
        cordoned. Preemption helps: evicting 1 pod from d makes room.
        0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu.
        priority  100

        Why
        NODES  REASON                            PLUGIN             PREEMPTION   WHICH
            1  Insufficient cpu                  NodeResourcesFit   may help     d
            1  Insufficient cpu                  NodeResourcesFit   cannot help  a
            1  node(s) had untolerated taint(s)  TaintToleration    cannot help  b
            1  node(s) were unschedulable        NodeUnschedulable  cannot help  c

        Nearest nodes
        NODE  LACKS
        d     lacks 2 cpu: 3 wanted, 1 free
        b     has taint spot=yes:NoSchedule
        c     is cordoned
        a     is too small by 1 cpu: 3 wanted, 2 in all

        What helps
        1. add a toleration for taint spot=yes:NoSchedule
           then it goes to b
             {TOLERATION}
        2. lower the cpu request of container main from 3 to 1
           then it goes to d
           the pod has to be made anew
        3. remove taint spot=yes:NoSchedule from node b
           then it goes to b
             kubectl patch node b --type=json -p '[{"op":"remove","path":"/spec/taints"}]'
        4. uncordon node c
           then it goes to c
             kubectl patch node c --type=json -p '[{"op":"remove","path":"/spec/unschedulable"}]'
        5. add a node like d
           then it goes to d-new1

        Preemption
        It helps: evicting 1 pod from d makes room.
        NODE  VICTIM                                         VIOLATES BUDGET
        d     shop/cart (priority 10, ReplicaSet shop/cart)  shop/keep

        Waits for
        WHEN                               EVENT                              PLUGINS
        a pod is deleted                   PodDelete                          NodeResourcesFit
        the requests of a pod become less  PodUpdatePodScaleDown              NodeResourcesFit
        a node is added                    NodeAdd                            NodeResourcesFit, NodeUnschedulable,
                                                                              TaintToleration
        the allocatable resources of a     NodeUpdateNodeAllocatable          NodeResourcesFit
        node change
        a DeviceClass is added             resource.k8s.io/DeviceClassAdd     NodeResourcesFit
        a DeviceClass is changed           resource.k8s.io/DeviceClassUpdate  NodeResourcesFit
        the taints of a node change, or    NodeUpdateNodeTaint                NodeResourcesFit, NodeUnschedulable,
        it is uncordoned                                                      TaintToleration
        the tolerations of the pod change  PodUpdatePodToleration             NodeUnschedulable, TaintToleration

        tried again at the latest  300 s after an attempt
        """)
    assert done.exit_code == 3


def test_a_pod_that_fits(snapshot: str) -> None:
    done = explain("pod", "shop/small", "--from", snapshot)
    assert done.output == dedent("""\
        Pod shop/small fits on 2 of 4 nodes: it goes to d.

        Scores
        PLUGIN                             d    a
        TaintToleration                  300  300
        NodeResourcesFit                  58   57
        NodeResourcesBalancedAllocation   74   74
        total                            432  431
        rank                               1    2

        What decides: NodeResourcesFit (+1): 1 point ahead of a.
        """)
    assert done.exit_code == 0


def test_everything_pending_is_the_default(snapshot: str) -> None:
    done = explain("--from", snapshot)
    assert done.output == dedent("""\
        1 of 3 pending pods does not fit on 4 nodes, for 1 cause.
        Ordered by the largest part of the cluster that the pods of a group request together, by resource. Pods that
        fit (1) are counted as placed.

        1. 1 pod: 2 lack cpu, 1 has a taint that it does not tolerate, 1 is cordoned
        whose         Pod shop/big (1)
        waiting       1d, since 2026-01-01T00:00:00Z
        requests      3 cpu (21.43% of cpu)
        nearest node  d lacks 2100m cpu: 3 wanted, 900m free
        preemption    evicting 1 pod from d makes room
        what helps    add a toleration for taint spot=yes:NoSchedule, which helps 1 of 1
        more          kubesched explain pod shop/big

        Others
        PODS  STATE      WHY                                                           WHOSE               WAITING
           1  fits now   they fit: the scheduler places them as soon as it tries them  Pod shop/small (1)  1d
           1  held back  waiting for scheduling gates: [quota]                         Pod shop/gated (1)  1d
        """)
    assert done.exit_code == 3
    assert explain("pods", "--from", snapshot).output == done.output


def test_a_node(snapshot: str) -> None:
    done = explain("node", "d", "--from", snapshot)
    assert done.output == dedent("""\
        Node d holds 1 pod. Of 2 pending pods it would take any of 1.

        Resources
        cpu     ██████████████████████········  3 of 4, 1 free
        memory  ······························  0 of 8Gi, 8Gi free
        pods    ······························  1 of 110, 109 free

        What would still fit
        PENDING         PODS  EACH REQUESTS  FITS HERE
        Pod shop/small     1  100m cpu       yes, 10 of them
        Pod shop/big       1  3 cpu          no: lacks 2 cpu: 3 wanted, 1 free

        What it holds
        POD        OWNER                 PRIORITY  REQUESTS
        shop/cart  ReplicaSet shop/cart        10  3 cpu
        """)
    assert done.exit_code == 0


def test_json(snapshot: str) -> None:
    answer = json.loads(explain("pod", "shop/big", "--from", snapshot, "-o", "json").output)
    assert list(answer) == [
        "pod",
        "verdict",
        "summary",
        "message",
        "reasons",
        "nearest",
        "remedies",
        "preemption",
        "waits",
        "priority",
        "gaps",
    ]
    waits = answer.pop("waits")
    assert {"plugin": "NodeResourcesFit", "event": "NodeAdd", "meaning": "a node is added"} in waits["events"]
    del answer["remedies"]
    assert answer == {
        "pod": "shop/big",
        "verdict": "unschedulable",
        "summary": "Pod shop/big does not fit on any of 4 nodes: 2 lack cpu, 1 has a taint that it does not tolerate, "
        "1 is cordoned. Preemption helps: evicting 1 pod from d makes room.",
        "message": "0/4 nodes are available: 1 node(s) had untolerated taint(s), "
        "1 node(s) were unschedulable, 2 Insufficient cpu.",
        "reasons": [
            {
                "message": "Insufficient cpu",
                "plugin": "NodeResourcesFit",
                "count": 1,
                "nodes": ["d"],
                "preemptionMayHelp": True,
                "terms": [],
            },
            {
                "message": "Insufficient cpu",
                "plugin": "NodeResourcesFit",
                "count": 1,
                "nodes": ["a"],
                "preemptionMayHelp": False,
                "terms": [],
            },
            {
                "message": "node(s) had untolerated taint(s)",
                "plugin": "TaintToleration",
                "count": 1,
                "nodes": ["b"],
                "preemptionMayHelp": False,
                "terms": [],
            },
            {
                "message": "node(s) were unschedulable",
                "plugin": "NodeUnschedulable",
                "count": 1,
                "nodes": ["c"],
                "preemptionMayHelp": False,
                "terms": [],
            },
        ],
        "nearest": [
            {
                "node": "d",
                "lacks": [
                    {
                        "plugin": "NodeResourcesFit",
                        "message": "lacks 2 cpu: 3 wanted, 1 free",
                        "subject": "cpu",
                        "resource": "cpu",
                        "wanted": "3",
                        "free": "1",
                    }
                ],
                "resolvable": True,
            },
            {
                "node": "b",
                "lacks": [
                    {
                        "plugin": "TaintToleration",
                        "message": "has taint spot=yes:NoSchedule",
                        "subject": "taint spot=yes:NoSchedule",
                    }
                ],
                "resolvable": False,
            },
            {
                "node": "c",
                "lacks": [
                    {"plugin": "NodeUnschedulable", "message": "is cordoned", "subject": "node(s) were unschedulable"}
                ],
                "resolvable": False,
            },
            {
                "node": "a",
                "lacks": [
                    {
                        "plugin": "NodeResourcesFit",
                        "message": "is too small by 1 cpu: 3 wanted, 2 in all",
                        "subject": "cpu of an empty node",
                        "resource": "cpu",
                        "wanted": "3",
                        "free": "500m",
                    }
                ],
                "resolvable": False,
            },
        ],
        "preemption": {
            "helps": True,
            "message": "evicting 1 pod from d makes room",
            "node": "d",
            "candidates": [
                {
                    "node": "d",
                    "victims": [
                        {"pod": "shop/cart", "priority": 10, "owner": "ReplicaSet shop/cart", "violates": ["shop/keep"]}
                    ],
                    "budgetViolations": 1,
                }
            ],
            "candidateCount": 1,
        },
        "priority": 100,
        "gaps": [],
    }


def test_a_manifest(snapshot: str, tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(
        dedent("""\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: shop}
        spec:
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 3}}}]}
        """)
    )
    done = explain("pod", "-f", str(file), "--quiet", "--from", snapshot)
    assert done.output == dedent("""\
        Pod shop/web-0 does not fit on any of 4 nodes: 2 lack cpu, 1 has a taint that it does not tolerate, 1 is
        cordoned.
        """)
    assert done.exit_code == 3


# words, exit code, the line on standard error
BAD: dict[str, tuple[list[str], int, str]] = {
    "a wrong name": (
        ["pod", "shop/crat"],
        1,
        "there is no pod shop/crat; did you mean shop/cart or shop/gated or shop/there?",
    ),
    "a name of another namespace": (["pod", "cart"], 1, "there is no pod default/cart; did you mean shop/cart?"),
    "a wrong node": (["node", "x"], 1, "there is no node x; there are 4, such as a, b, c"),
    "a name alone": (["cart"], 2, "Error: say what cart is: kubesched explain pod cart, or node cart"),
    "neither a name nor a manifest": (["pod"], 2, "Error: name a pod, or give a manifest with -f"),
    "a manifest that is not there": (["pod", "-f", "nowhere.yaml"], 1, "nowhere.yaml: No such file or directory"),
}


def test_a_cluster_is_read_only_once_a_pod_is_named() -> None:
    done = explain("pod", "--from", "nowhere.yaml")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "Error: name a pod, or give a manifest with -f"


@pytest.mark.parametrize(("words", "code", "line"), BAD.values(), ids=BAD)
def test_bad_input(snapshot: str, words: list[str], code: int, line: str) -> None:
    done = explain(*words, "--from", snapshot)
    assert done.exit_code == code
    assert done.stderr.splitlines()[-1] == line


def test_a_name_with_a_namespace_option(snapshot: str) -> None:
    assert explain("pod", "cart", "-n", "shop", "--quiet", "--from", snapshot).output == (
        "Pod shop/cart is on d. It is the only node that takes it, and it would go there again.\n"
    )


def test_a_namespace_of_its_own(snapshot: str) -> None:
    done = explain("-n", "default", "--quiet", "--from", snapshot)
    assert (done.output, done.exit_code) == ("No pod is pending.\n", 0)
