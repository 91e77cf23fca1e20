"""`kubesched explain` on a small cluster: what is printed, and the exit code."""

import json
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.support.roles import a_rule
from tests.support.served_cluster import a_served_cluster

from kubesched.cli import main
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_budget, a_node, a_pod
from kubesched_answers.sources.snapshots import snapshot_bytes

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
LOWERED = (
    "kubectl get -n shop pod big -o json | kubectl patch --local -f - --type=json -p "
    """'[{"op":"test","path":"/spec/containers/0/name","value":"main"},"""
    """{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"1"}]' -o json"""
    " | kubectl replace --force -f -"
)


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """Return the name of a snapshot of the cluster, taken a day after its pods were created."""
    file = tmp_path / "cluster.snapshot"
    file.write_bytes(snapshot_bytes(ClusterObjects(OBJECTS, taken_at=datetime(2026, 1, 2, tzinfo=UTC))))
    return str(file)


def explain(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "110"}).invoke(main, ["explain", *words])


def test_a_pending_pod(snapshot: str) -> None:
    done = explain("pod", "shop/big", "--from", snapshot)
    assert done.output.replace(TOLERATION, "{TOLERATION}").replace(LOWERED, "{LOWERED}") == dedent("""\
        Pod shop/big does not fit on any of 4 nodes: 2 lack cpu, 1 has a taint that it does not tolerate, 1 is
        cordoned. Preemption helps: evicting 1 pod from d makes room, but this violates PodDisruptionBudget shop/keep.
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
        1. uncordon node c
           then it goes to c
             kubectl uncordon c
        2. add a node like d
           then it goes to d-new-1
        3. add a toleration for taint spot=yes:NoSchedule
           then it goes to b
             {TOLERATION}
        4. lower the cpu request of container main from 3 to 1
           then it goes to d
           the pod is deleted and created again
             {LOWERED}
        5. remove taint spot=yes:NoSchedule from node b
           then it goes to b
             kubectl taint nodes b spot:NoSchedule-

        Preemption
        It helps: evicting 1 pod from d makes room, but this violates PodDisruptionBudget shop/keep.
        VICTIM     PRIORITY  OWNER                 VIOLATES BUDGET
        shop/cart        10  ReplicaSet shop/cart  shop/keep

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
        The costliest cause is first. 1 pod that fits is counted as placed.

        1. 1 pod: 2 lack cpu, 1 has a taint that it does not tolerate, 1 is cordoned
        whose         Pod shop/big (1)
        waiting       1d, since 2026-01-01T00:00:00Z
        requests      3 cpu (21.43% of cpu)
        nearest node  d lacks 2.1 cpu: 3 wanted, 0.9 free
        preemption    evicting 1 pod from d makes room, but this violates PodDisruptionBudget shop/keep
        what helps    uncordon node c
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
        Pod shop/small     1  0.1 cpu        yes, 10 of them
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
        "advice",
        "preemption",
        "waits",
        "priority",
        "gaps",
    ]
    waits = answer.pop("waits")
    assert {"plugin": "NodeResourcesFit", "event": "NodeAdd", "meaning": "a node is added"} in waits["events"]
    del answer["remedies"]
    assert answer.pop("advice") == []
    assert answer == {
        "pod": "shop/big",
        "verdict": "unschedulable",
        "summary": "Pod shop/big does not fit on any of 4 nodes: 2 lack cpu, 1 has a taint that it does not tolerate, "
        "1 is cordoned. Preemption helps: evicting 1 pod from d makes room, but this violates PodDisruptionBudget "
        "shop/keep.",
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
            "message": "evicting 1 pod from d makes room, but this violates PodDisruptionBudget shop/keep",
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
        "there is no pod shop/crat; did you mean shop/cart?",
    ),
    "a name of another namespace": (["pod", "cart"], 1, "there is no pod default/cart; did you mean shop/cart?"),
    "a wrong node": (["node", "x"], 1, "there is no node x; there are 4, such as a, b, c"),
    "a name alone": (
        ["cart"],
        2,
        "Error: missing kind: write kubesched explain pod cart, node cart or deployment cart",
    ),
    "neither a name nor a manifest": (["pod"], 2, "Error: no pod: give its name, or a manifest with -f"),
    "a manifest that is not there": (["pod", "-f", "nowhere.yaml"], 1, "nowhere.yaml: No such file or directory"),
}


def test_a_cluster_is_read_only_once_a_pod_is_named() -> None:
    done = explain("pod", "--from", "nowhere.yaml")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "Error: no pod: give its name, or a manifest with -f"


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
    assert (done.output, done.exit_code) == ("No pod of namespace default is pending.\n", 0)


FORMS: dict[str, tuple[list[str], str, int]] = {
    "the kind and the name": (["replicaset", "shop/cart"], "ReplicaSet shop/cart has 1 pod: 1 on 1 node.", 0),
    "a short name": (["rs", "cart", "-n", "shop"], "ReplicaSet shop/cart has 1 pod: 1 on 1 node.", 0),
    "one word": (["rs/cart", "-n", "shop"], "ReplicaSet shop/cart has 1 pod: 1 on 1 node.", 0),
    "one word with a namespace": (["rs/shop/cart"], "ReplicaSet shop/cart has 1 pod: 1 on 1 node.", 0),
    "the subcommand": (["workload", "rs/shop/cart"], "ReplicaSet shop/cart has 1 pod: 1 on 1 node.", 0),
    "a pod in one word": (["pod/small", "-n", "shop"], "Pod shop/small fits on 2 of 4 nodes: it goes to d.", 0),
    "a pod by its short name": (["po", "shop/small"], "Pod shop/small fits on 2 of 4 nodes: it goes to d.", 0),
    "a node by its short name": (["no", "d"], "Node d holds 1 pod. Of 2 pending pods it would take any of 1.", 0),
}


@pytest.mark.parametrize(("words", "line", "code"), FORMS.values(), ids=FORMS)
def test_what_is_explained_is_named_as_for_kubectl(words: list[str], line: str, code: int, snapshot: str) -> None:
    done = explain(*words, "--from", snapshot, "--quiet")
    assert (done.stdout, done.exit_code) == (f"{line}\n", code), done.output


MISTAKES: dict[str, tuple[list[str], int, str]] = {
    "a workload as a pod": (
        ["pod", "deploy/cart"],
        1,
        "deploy/cart is not a pod; to explain a workload, run: kubesched explain deploy/cart",
    ),
    "a workload that does not exist": (["rs/crat", "-n", "shop"], 1, "there is no ReplicaSet crat; did you mean cart?"),
    "a kind alone": (["deployment"], 2, "name one workload, such as deployment/NAME"),
    "two names": (["deploy", "a", "b"], 2, "name one workload, such as deploy/NAME"),
    "a kind without pods": (
        ["svc/web"],
        2,
        "svc/web: unknown kind; explain takes pods, nodes and workloads, such as deploy/web",
    ),
    "a name without a kind": (
        ["cart"],
        2,
        "missing kind: write kubesched explain pod cart, node cart or deployment cart",
    ),
}


@pytest.mark.parametrize(("words", "code", "line"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_about_workloads(words: list[str], code: int, line: str, snapshot: str) -> None:
    done = explain(*words, "--from", snapshot)
    assert done.exit_code == code
    assert line in done.stderr


def test_a_workload_behind_the_options() -> None:
    done = explain("--from", "file", "deploy/web")
    assert done.exit_code == 2
    assert "write deploy/web before the options: kubesched explain deploy/web" in done.stderr


def test_the_rights_to_read_are_a_cluster_role() -> None:
    role = yaml.safe_load(explain("rights").stdout)
    assert (role["kind"], role["metadata"]["name"]) == ("ClusterRole", "kubesched-reader")
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    rules = {rule["apiGroups"][0]: rule["resources"] for rule in role["rules"]}
    assert {"pods", "nodes", "persistentvolumeclaims"} <= set(rules[""])
    assert "secrets" not in rules[""]
    assert "deployments" in rules["apps"]


NODES_ALONE = [a_rule("list", "nodes")]


def test_where_pods_may_not_be_read_it_is_not_said_that_none_is_pending(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    with a_served_cluster(tmp_path, node, rules=NODES_ALONE, own=[a_rule("list", "pods")]) as served:
        config = served.kubeconfig("anna", namespace="hers")
        done = explain("--kubeconfig", config)
        own = explain("--kubeconfig", config, "-n", "hers", "--quiet")
    first = "No pod of namespace hers is pending. You may not read the pods of other namespaces."
    assert done.stdout.splitlines()[0] == first
    assert "You may not read" in done.stdout
    assert "forbidden" not in done.stdout
    assert done.exit_code == 1
    assert (own.stdout, own.exit_code) == ("No pod of namespace hers is pending.\n", 0)


def test_with_the_cluster_role_everything_is_read(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    rules = yaml.safe_load(explain("rights").stdout)["rules"]
    with a_served_cluster(tmp_path, node, rules=rules) as served:
        done = explain("--kubeconfig", served.kubeconfig("anna"))
    assert (done.stdout, done.exit_code) == ("No pod is pending.\n", 0)
