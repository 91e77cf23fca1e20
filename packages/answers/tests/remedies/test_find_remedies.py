"""The remedies of small clusters: sentence, node, changes; each proven on its documents by a new engine."""

from typing import Any, NamedTuple

import msgspec
import pytest
from tests.support.models import a_model
from tests.support.remedy_proofs import check

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.api.pods import NodeSelectorRequirement, NodeSelectorTerm, Pod, ResourceRequirements
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import (
    a_budget,
    a_claim,
    a_container,
    a_csi_driver,
    a_csi_node,
    a_namespace,
    a_node,
    a_pod,
    a_spread,
    a_storage_class,
    a_storage_pool,
    a_term,
    a_volume,
    an_affinity,
    an_ephemeral_volume,
)
from kubesched.testing.devices import (
    a_claiming_pod,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    holding,
)
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.search import find_remedies

LOADED = load_config()
WEB = {"app": "web"}
GPU = "example.com/gpu"


UNREADABLE = NodeSelectorRequirement(key="disk", operator="Like", values=("ssd",))

BAD_VALUE = NodeSelectorRequirement(key="disk", operator="NotIn", values=("not ok!",))
BAD_CHOICE = NodeSelectorRequirement(key="disk", operator="In", values=("not ok!",))
HAS_SIZE = NodeSelectorRequirement(key="size", operator="Exists")
NOT_NAMED = NodeSelectorRequirement(key="metadata.name", operator="NotIn", values=("n3", "n9"))


def named(*names: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key="metadata.name", operator="In", values=names)


class Case(NamedTuple):
    """A cluster, a pod without a node, and its remedies with the nodes it goes to then."""

    objects: list[ApiObject]
    pod: Pod
    remedies: list[tuple[str, str]]


LOST = "without the data of the claim; what the pod writes there is lost with the pod"
CASES: dict[str, Case] = {
    "all pods that hold a host port leave": Case(
        [a_node("n1", cpu="4"), a_pod("x", node="n1", ports=[80]), a_pod("y", node="n1", ports=[80])],
        a_pod(ports=[80]),
        [
            ("add a node like n1", "n1-new-1"),
            ("change host port 80 of container main to 81", "n1"),
            ("evict 2 pods from node n1: default/x, default/y", "n1"),
        ],
    ),
    "a request is lowered to what the nearest node has free": Case(
        [a_node("n1", cpu="4"), a_node("n2", cpu="2"), a_pod("x", cpu="500m", node="n1")],
        a_pod(cpu="5"),
        [
            ("add a node like n1 with 5 cpu", "n1-new-1"),
            ("lower the cpu request of container main from 5 to 3.5", "n1"),
        ],
    ),
    "the largest container gives": Case(
        [a_node("n1", cpu="4")],
        a_pod(containers=[a_container("app", cpu="3"), a_container("log", cpu="2")]),
        [
            ("add a node like n1 with 5 cpu", "n1-new-1"),
            ("lower the cpu request of container app from 3 to 2", "n1"),
        ],
    ),
    "an init container gives as well": Case(
        [a_node("n1", cpu="4")],
        a_pod(containers=[a_container("app", cpu="2")], init_containers=(a_container("setup", cpu="6"),)),
        [
            ("add a node like n1 with 6 cpu", "n1-new-1"),
            ("lower the cpu request of container setup from 6 to 4", "n1"),
        ],
    ),
    "every resource that is short": Case(
        [a_node("n1", cpu="4", memory="4Gi")],
        a_pod(cpu="5", memory="5Gi"),
        [
            ("add a node like n1 with 5 cpu and 5Gi memory", "n1-new-1"),
            (
                "lower the cpu request of container main from 5 to 4; "
                "lower the memory request of container main from 5Gi to 4Gi",
                "n1",
            ),
        ],
    ),
    "an extended resource": Case(
        [a_node("n1", allocatable={GPU: "4"})],
        a_pod(requests={GPU: "8"}),
        [
            (f"add a node like n1 with 8 {GPU}", "n1-new-1"),
            (f"lower the {GPU} request of container main from 8 to 4", "n1"),
        ],
    ),
    "a limit follows the request that it equals, and overhead is not the container's": Case(
        [a_node("n1", cpu="2")],
        a_pod(containers=[a_container("app", cpu="2", limits={"cpu": "2"})], overhead={"cpu": "500m"}),
        [
            ("add a node like n1 with 2.5 cpu", "n1-new-1"),
            ("lower the cpu request of container app from 2 to 1.5", "n1"),
        ],
    ),
    "a request of the pod as a whole": Case(
        [a_node("n1", cpu="2")],
        a_pod(cpu="3", resources=ResourceRequirements(requests={"cpu": "4"})),
        [
            ("add a node like n1 with 4 cpu", "n1-new-1"),
            (
                "lower the cpu request of the pod from 4 to 2; lower the cpu request of container main from 3 to 2",
                "n1",
            ),
        ],
    ),
    "too many pods": Case(
        [a_node("n1", pods=1), a_pod("x", node="n1")],
        a_pod(),
        [
            ("add a node like n1", "n1-new-1"),
            ("allow 2 pods on node n1 in place of 1, with maxPods of its kubelet", "n1"),
            ("evict pod default/x from node n1", "n1"),
        ],
    ),
    "a taint": Case(
        [a_node("n1", cpu="1"), a_node("n2", taints=["gpu=true:NoSchedule"])],
        a_pod(cpu="2"),
        [
            ("add a toleration for taint gpu=true:NoSchedule", "n2"),
            ("lower the cpu request of container main from 2 to 1", "n1"),
            ("remove taint gpu=true:NoSchedule from node n2", "n2"),
        ],
    ),
    "a node that is not ready has to get ready: its controller puts the taint back": Case(
        [a_node("n1", taints=["node.kubernetes.io/not-ready:NoSchedule"])],
        a_pod(),
        [
            ("add a node like n1", "n1-new-1"),
        ],
    ),
    "a cordoned node": Case(
        [a_node("n1", taints=["node.kubernetes.io/unschedulable:NoSchedule"], unschedulable=True)],
        a_pod(),
        [("uncordon node n1", "n1"), ("add a node like n1", "n1-new-1")],
    ),
    "a node is added like one that is well, not like a cordoned or a not-ready one": Case(
        [
            a_node("n1", cpu="1", unschedulable=True),
            a_node("n2", cpu="1", taints=["node.kubernetes.io/not-ready:NoExecute"]),
            a_node("n3", cpu="1", taints=["ToBeDeletedByClusterAutoscaler:NoSchedule"]),
            a_node("n4", cpu="1"),
            *(a_pod(f"agent-{n}", cpu="1", node=n, owner="DaemonSet/agent") for n in ("n1", "n2", "n3", "n4")),
        ],
        a_pod(cpu="1"),
        [("add a node like n4", "n4-new-1")],
    ),
    "a node is added like a larger one that is well, not like a small one that is not": Case(
        [
            a_node("n1", cpu="1", unschedulable=True),
            a_node("n2", cpu="4"),
            *(a_pod(f"agent-{n}", cpu=cpu, node=n, owner="DaemonSet/agent") for n, cpu in (("n1", "1"), ("n2", "4"))),
        ],
        a_pod(cpu="1"),
        [("add a node like n2", "n2-new-1")],
    ),
    "a node is added like one whose taints are tolerated, though others are more": Case(
        [
            *(a_node(f"g{i}", cpu="1", taints=["gpu:NoSchedule"]) for i in range(3)),
            *(a_node(f"s{i}", cpu="1", taints=[f"pool=s{i}:NoSchedule"]) for i in range(9)),
            a_node("t", cpu="1", taints=["team=a:NoSchedule"]),
            *(
                a_pod(f"agent-{n}", cpu="1", node=n, owner="DaemonSet/agent")
                for n in ("g0", "g1", "g2", *(f"s{i}" for i in range(9)), "t")
            ),
        ],
        a_pod(cpu="1", tolerations=["team=a:NoSchedule"]),
        [("add a node like t", "t-new-1")],
    ),
    "a node selector": Case(
        [a_node("n1", labels={"disk": "hdd"})],
        a_pod(node_selector={"disk": "ssd"}),
        [
            ("change disk in the node selector from ssd to hdd", "n1"),
            ("change label disk of node n1 from hdd to ssd", "n1"),
        ],
    ),
    "a node selector of a label that no node has": Case(
        [a_node("n1")],
        a_pod(node_selector={"disk": "ssd"}),
        [("remove disk=ssd from the node selector", "n1"), ("add label disk=ssd to node n1", "n1")],
    ),
    "a zone is what a node is, and not changed": Case(
        [a_node("n1", zone="a")],
        a_pod(node_selector={"topology.kubernetes.io/zone": "b"}),
        [("change topology.kubernetes.io/zone in the node selector from b to a", "n1")],
    ),
    "required node affinity": Case(
        [a_node("n1", labels={"disk": "hdd"})],
        a_pod(affinity=an_affinity(nodes="disk=ssd")),
        [
            ("change disk In [ssd] in the required node affinity to disk In [ssd, hdd]", "n1"),
            ("change label disk of node n1 from hdd to ssd", "n1"),
        ],
    ),
    "preferred node affinity that cannot be read": Case(
        [a_node("n1"), a_node("n2")],
        a_pod(affinity=an_affinity(prefer_nodes=(1, NodeSelectorTerm(match_expressions=(UNREADABLE,))))),
        [("remove the preferred node affinity", "n1")],
    ),
    "required node affinity of which one expression cannot be read": Case(
        [a_node("n1", labels={"disk": "ssd", "size": "4"})],
        a_pod(affinity=an_affinity(nodes=NodeSelectorTerm(match_expressions=(BAD_VALUE, HAS_SIZE)))),
        [("remove disk NotIn [not ok!] from the required node affinity", "n1")],
    ),
    "required node affinity with a value that cannot be read": Case(
        [a_node("n1", labels={"disk": "ssd"})],
        a_pod(affinity=an_affinity(nodes=NodeSelectorTerm(match_expressions=(BAD_CHOICE,)))),
        [("change disk In [not ok!] in the required node affinity to disk In [ssd]", "n1")],
    ),
    "required node affinity that names several nodes it is not for": Case(
        [a_node("n1", labels={"size": "4"})],
        a_pod(affinity=an_affinity(nodes=NodeSelectorTerm(match_expressions=(HAS_SIZE,), match_fields=(NOT_NAMED,)))),
        [("remove metadata.name NotIn [n3, n9] from the required node affinity", "n1")],
    ),
    "a node by its name": Case(
        [a_node("n1")],
        a_pod(affinity=an_affinity(nodes=NodeSelectorTerm(match_fields=(named("gone"),)))),
        [
            (
                "change metadata.name In [gone] in the required node affinity to metadata.name In [n1]",
                "n1",
            )
        ],
    ),
    "a node without the label of a topology": Case(
        [a_node("n1"), a_node("n2", zone="b", cpu="1")],
        a_pod(cpu="2", labels=WEB, spread=a_spread("zone", "app=web")),
        [
            ("lower the cpu request of container main from 2 to 1", "n2"),
            ("set whenUnsatisfiable of the spread over topology.kubernetes.io/zone to ScheduleAnyway", "n1"),
            ("add label topology.kubernetes.io/zone=b to node n1", "n1"),
        ],
    ),
    "a spread constraint": Case(
        [
            a_node("n1", zone="a"),
            a_node("n2", zone="b", cpu="1"),
            a_pod("w", labels=WEB, node="n1"),
            a_pod("x", labels=WEB, node="n1"),
        ],
        a_pod(labels=WEB, cpu="2", spread=a_spread("zone", "app=web")),
        [
            ("raise maxSkew of the spread over topology.kubernetes.io/zone from 1 to 3", "n1"),
            ("lower the cpu request of container main from 2 to 1", "n2"),
            ("set whenUnsatisfiable of the spread over topology.kubernetes.io/zone to ScheduleAnyway", "n1"),
            ("move 2 pods from node n1 to other nodes: default/w, default/x", "n1"),
        ],
    ),
    "pod anti-affinity": Case(
        [a_node("n1"), a_pod("w", labels=WEB, node="n1")],
        a_pod(labels=WEB, affinity=an_affinity(apart="app=web@hostname")),
        [
            ("add a node like n1", "n1-new-1"),
            ("remove the required pod anti-affinity to app=web in kubernetes.io/hostname", "n1"),
            ("evict pod default/w from node n1", "n1"),
        ],
    ),
    "the anti-affinity of another pod": Case(
        [a_node("n1"), a_pod("w", node="n1", affinity=an_affinity(apart="app=web@hostname"))],
        a_pod(labels=WEB),
        [("add a node like n1", "n1-new-1"), ("evict pod default/w from node n1", "n1")],
    ),
    "pod affinity": Case(
        [a_node("n1")],
        a_pod(affinity=an_affinity(near="app=db@hostname")),
        [("remove the required pod affinity to app=db in kubernetes.io/hostname", "n1")],
    ),
    "pod affinity to pods of namespaces that have a label": Case(
        [a_node("n1"), a_namespace("data"), a_pod("db", namespace="data", labels={"app": "db"}, node="n1")],
        a_pod(affinity=an_affinity(near=a_term("app=db", "hostname", namespace_selector="team=data"))),
        [
            ("remove the required pod affinity to app=db in kubernetes.io/hostname", "n1"),
            ("add label team=data to namespace data", "n1"),
        ],
    ),
    "a host port": Case(
        [a_node("n1"), a_pod("w", node="n1", ports=[8080])],
        a_pod(ports=[8080]),
        [
            ("add a node like n1", "n1-new-1"),
            ("change host port 8080 of container main to 8081", "n1"),
            ("evict pod default/w from node n1", "n1"),
        ],
    ),
    "scheduling gates": Case(
        [a_node("n1")],
        a_pod(gates=["a", "b"]),
        [("remove scheduling gate a; remove scheduling gate b", "n1")],
    ),
    "gates, and what comes after them": Case(
        [a_node("n1", cpu="1")],
        a_pod(gates=["a"], cpu="2"),
        [
            ("remove scheduling gate a; add a node like n1 with 2 cpu", "n1-new-1"),
            ("remove scheduling gate a; lower the cpu request of container main from 2 to 1", "n1"),
        ],
    ),
    "a scheduler that is not here": Case(
        [a_node("n1")],
        a_pod(scheduler="other"),
        [("change the scheduler name of the pod from other to default-scheduler", "n1")],
    ),
    "pods that find another node are moved": Case(
        [a_node("n1", cpu="4"), a_node("n2", cpu="2"), a_pod("x", cpu="2", node="n1")],
        a_pod(cpu="3"),
        [
            ("add a node like n1", "n1-new-1"),
            ("lower the cpu request of container main from 3 to 2", "n1"),
            ("move pod default/x from node n1 to n2", "n1"),
        ],
    ),
    "a budget keeps its pods": Case(
        [
            a_node("n1", cpu="4"),
            a_pod("kept", cpu="3", node="n1", labels=WEB),
            a_pod("y", cpu="1", node="n1"),
            a_budget("budget", "app=web", allowed=0),
        ],
        a_pod(cpu="1"),
        [
            ("add a node like n1", "n1-new-1"),
            ("evict pod default/y from node n1", "n1"),
        ],
    ),
    "pods of daemons come back": Case(
        [a_node("n1", cpu="1"), a_pod("agent", cpu="1", node="n1", owner="DaemonSet/agent")],
        a_pod(cpu="1"),
        [("add a node like n1", "n1-new-1")],
    ),
    "a volume out of reach": Case(
        [
            a_node("n1", zone="a"),
            a_claim("data", bound_to="pv"),
            a_volume("pv", nodes="topology.kubernetes.io/zone=b", claimed_by="default/data"),
        ],
        a_pod(volumes=["data"]),
        [
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "a claim that does not exist": Case(
        [a_node("n1"), a_storage_class("fast", provisioner="csi.example.com")],
        a_pod(volumes=["data"]),
        [
            ("create claim default/data of storage class fast", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "a claim that does not exist, of a class that does not provision": Case(
        [a_node("n1"), a_storage_class("local")],
        a_pod(volumes=["data"]),
        [
            (
                "create claim default/data of storage class local; "
                "create volume data-volume of 1Gi for claim default/data, "
                "a disk of node n1 that is mounted at /mnt/disks/data-volume",
                "n1",
            ),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "a claim that could be bound": Case(
        [a_node("n1"), a_storage_class("local", binding_mode="Immediate"), a_claim("data"), a_volume("pv")],
        a_pod(volumes=["data"]),
        [
            ("bind claim default/data to volume pv", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "a storage class that does not exist": Case(
        [
            a_node("n1"),
            a_storage_class("csi", provisioner="csi.example.com"),
            a_claim("data", storage_class="fast"),
        ],
        a_pod(volumes=["data"]),
        [
            ("create storage class fast with provisioner csi.example.com", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "a volume that does not exist": Case(
        [a_node("n1"), a_claim("data", bound_to="gone")],
        a_pod(volumes=["data"]),
        [
            ("create volume gone of 1Gi for claim default/data", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "a volume in another zone": Case(
        [
            a_node("n1", zone="a"),
            a_claim("data", bound_to="pv"),
            a_volume("pv", labels={"topology.kubernetes.io/zone": "b"}),
        ],
        a_pod(volumes=["data"]),
        [
            ("change label topology.kubernetes.io/zone of volume pv from b to a", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "a claim that one pod may use, and does": Case(
        [
            a_node("n1"),
            a_node("n2"),
            a_claim("data", bound_to="pv", modes=["ReadWriteOncePod"]),
            a_volume("pv", modes=["ReadWriteOncePod"]),
            a_pod("x", node="n2", volumes=["data"]),
        ],
        a_pod(volumes=["data"]),
        [
            ("evict pod default/x from node n2", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "another claim that is free": Case(
        [a_node("n1"), a_claim("spare", bound_to="pv"), a_volume("pv")],
        a_pod(volumes=["data"]),
        [
            ("use claim spare, with its data, in place of data in volume data", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "storage that is used up": Case(
        [
            a_node("n1"),
            a_storage_class("csi", provisioner="csi.example.com"),
            a_csi_driver(),
            a_storage_pool(capacity="1Gi"),
            a_claim("data", size="5Gi", storage_class="csi"),
        ],
        a_pod(volumes=["data"]),
        [
            ("create volume data-volume of 5Gi for claim default/data", "n1"),
            ("free storage up to 5Gi in default/pool of storage class csi", "n1"),
            (f"replace claim data of volume data by an empty directory, {LOST}", "n1"),
        ],
    ),
    "an ephemeral volume without its claim": Case(
        [a_node("n1"), a_storage_class("csi", provisioner="csi.example.com")],
        a_pod(volumes=[an_ephemeral_volume()]),
        [("create claim default/pod-scratch of storage class csi", "n1")],
    ),
    "a device class that does not exist": Case(
        [a_node("n1"), a_slice("s", "gpu-0", node="n1"), a_resource_claim("c", a_device_request())],
        a_claiming_pod("pod", "c"),
        [("create device class gpu", "n1"), ("remove resource claim c from the pod", "n1")],
    ),
    "devices that a claim holds which no pod uses": Case(
        [
            a_node("n1"),
            a_device_class(),
            a_slice("s", "gpu-0", node="n1"),
            holding("gpu-0"),
            a_resource_claim("c", a_device_request()),
        ],
        a_claiming_pod("pod", "c"),
        [
            ("deallocate resource claim default/other, which no pod uses", "n1"),
            ("add a node like n1; with the devices of resource slice s", "n1-new-1"),
            ("remove resource claim c from the pod", "n1"),
        ],
    ),
    "fewer devices than a claim asks for": Case(
        [
            a_node("n1"),
            a_device_class(),
            a_slice("s", "gpu-0", "gpu-1", node="n1"),
            a_resource_claim("c", a_device_request(count=4)),
        ],
        a_claiming_pod("pod", "c"),
        [
            ("lower the devices of request r of resource claim default/c from 4 to 2", "n1"),
            ("remove resource claim c from the pod", "n1"),
        ],
    ),
    "devices that a claim does not select": Case(
        [
            a_node("n1"),
            a_device_class(),
            a_slice("s", "gpu-0", node="n1"),
            a_resource_claim("c", a_device_request("r", "false")),
        ],
        a_claiming_pod("pod", "c"),
        [
            ("remove the selectors of request r of resource claim default/c", "n1"),
            ("remove resource claim c from the pod", "n1"),
        ],
    ),
    "a limit of volumes": Case(
        [
            a_node("n1"),
            a_csi_node("n1", {"csi.example.com": 1}),
            a_storage_class("csi", provisioner="csi.example.com"),
            *(a_claim(name, bound_to=f"pv-{name}", storage_class="csi") for name in ("a", "b")),
            *(a_volume(f"pv-{name}", csi=f"csi.example.com/{name}", storage_class="csi") for name in ("a", "b")),
            a_pod("x", node="n1", volumes=["a"]),
        ],
        a_pod(volumes=["b"]),
        [
            ("add a node like n1", "n1-new-1"),
            ("raise the limit of driver csi.example.com on node n1 from 1 to 2 volumes", "n1"),
            ("evict pod default/x from node n1", "n1"),
            (f"replace claim b of volume b by an empty directory, {LOST}", "n1"),
        ],
    ),
}


def remedies_of(case: Case, *, in_cluster: bool) -> tuple[Remedy, ...]:
    model = a_model(*case.objects, *((case.pod,) if in_cluster else ()))
    return find_remedies(model, model.pod(case.pod.full_name) if in_cluster else model.read(case.pod))


@pytest.mark.parametrize("in_cluster", [True, False], ids=["pending", "asked about"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_remedies(case: Case, in_cluster: bool) -> None:
    remedies = remedies_of(case, in_cluster=in_cluster)
    assert [(remedy.summary, remedy.node) for remedy in remedies] == case.remedies
    documents: list[Any] = [to_builtins(obj) for obj in (*case.objects, case.pod)]
    for remedy in remedies:
        check(documents, LOADED, case.pod.full_name, remedy)


def test_a_pod_that_fits_needs_none() -> None:
    assert remedies_of(Case([a_node("n1")], a_pod(), []), in_cluster=True) == ()


def test_a_cluster_without_nodes_has_none() -> None:
    assert remedies_of(Case([], a_pod(), []), in_cluster=True) == ()


def test_changes_as_json() -> None:
    case = Case(
        [a_node("n1", cpu="1", taints=["a=b:NoSchedule", "c:NoSchedule"]), a_pod("x", cpu="1", node="n1")],
        a_pod(cpu="1", tolerations=["c:NoSchedule"]),
        [],
    )
    remedies = {remedy.summary: remedy.to_dict() for remedy in remedies_of(case, in_cluster=True)}
    evicting = remedies["add a toleration for taint a=b:NoSchedule; evict pod default/x from node n1"]
    assert evicting == {
        "summary": "add a toleration for taint a=b:NoSchedule; evict pod default/x from node n1",
        "scope": "others",
        "changes": [
            {
                "object": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "pod"},
                "patch": [
                    {
                        "op": "add",
                        "path": "/spec/tolerations",
                        "value": [
                            {"key": "c", "operator": "Exists", "effect": "NoSchedule"},
                            {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
                        ],
                    }
                ],
            },
            {"object": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "x"}, "delete": True},
        ],
        "node": "n1",
        "recreate": False,
        "preempts": [],
        # nothing has to be sent in another way
        "requests": evicting["changes"],
        "commands": [
            "kubectl patch -n default pod pod --type=json -p "
            f"'{msgspec.json.encode(evicting['changes'][0]['patch']).decode()}'",
            "kubectl delete -n default pod x",
        ],
    }


def test_a_new_node_is_created_as_a_document() -> None:
    case = Case([a_node("n1", cpu="1", zone="a", unschedulable=True)], a_pod(cpu="1"), [])
    *_, added = remedies_of(case, in_cluster=True)
    (change,) = added.changes
    assert change.to_dict() == {
        "object": {"apiVersion": "v1", "kind": "Node", "namespace": "", "name": "n1-new-1"},
        "create": {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": "n1-new-1",
                "labels": {"kubernetes.io/hostname": "n1-new-1", "topology.kubernetes.io/zone": "a"},
            },
            "spec": {},
            "status": {
                "capacity": {"cpu": "1", "memory": "8Gi", "pods": 110},
                "allocatable": {"cpu": "1", "memory": "8Gi", "pods": 110},
            },
        },
    }


def test_the_owner_of_a_pod_that_is_there_creates_it_again() -> None:
    case = Case([a_node("n1", cpu="1")], a_pod(cpu="2", owner="ReplicaSet/web"), [])
    _, there = remedies_of(case, in_cluster=True)
    assert (there.recreate, there.owner, there.scope) == (True, "ReplicaSet default/web", "pod")
    _, asked = remedies_of(case, in_cluster=False)
    assert (asked.recreate, asked.owner) == (False, None)


class OwnedPod(NamedTuple):
    """The workloads of a cluster, the labels of a pod of theirs, and the controller to change."""

    workloads: list[tuple[str, str, str]]
    owner: str
    labels: dict[str, str]
    changed: str


OWNED = {
    "a Deployment's ReplicaSet was read": OwnedPod(
        [("Deployment", "web", ""), ("ReplicaSet", "web-5d", "Deployment/web")],
        "ReplicaSet/web-5d",
        {},
        "Deployment default/web",
    ),
    "a ReplicaSet was not read, but its name has the hash of a Deployment's template": OwnedPod(
        [], "ReplicaSet/web-5d", {"pod-template-hash": "5d"}, "Deployment default/web"
    ),
    "a Job of a CronJob": OwnedPod(
        [("Job", "report-1", "CronJob/report"), ("CronJob", "report", "")], "Job/report-1", {}, "CronJob default/report"
    ),
    "a kind of others": OwnedPod([], "SparkApplication/sum", {}, "SparkApplication default/sum"),
}


@pytest.mark.parametrize("case", OWNED.values(), ids=OWNED)
def test_the_controller_at_the_top_is_to_be_changed(case: OwnedPod) -> None:
    def document(kind: str, name: str, owner: str) -> dict[str, Any]:
        above, _, of = owner.partition("/")
        references = [{"apiVersion": "apps/v1", "kind": above, "name": of, "uid": of, "controller": True}]
        meta = {"name": name, "namespace": "default", "ownerReferences": references if owner else []}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta}

    objects = a_node("n1", cpu="1"), a_pod(cpu="2", owner=case.owner, labels=case.labels)
    workloads = tuple(document(*workload) for workload in case.workloads)
    model = ClusterModel(ClusterObjects(objects, workloads), LOADED)
    added, lowered = find_remedies(model, model.pod("default/pod"))
    assert (lowered.recreate, lowered.owner) == (True, case.changed)
    assert (added.recreate, added.owner) == (False, None)


def test_a_toleration_is_added_in_place() -> None:
    case = Case([a_node("n1", taints=["a:NoSchedule"])], a_pod(owner="ReplicaSet/web"), [])
    toleration, taint, *_ = remedies_of(case, in_cluster=True)
    assert (toleration.recreate, taint.recreate) == (False, False)


def test_the_model_is_as_before() -> None:
    case = CASES["pods that find another node are moved"]
    model, other = a_model(*case.objects, case.pod), a_model(*case.objects, case.pod)
    first = find_remedies(model, model.pod("default/pod"))
    assert (sorted(model.pods), model.node_names()) == (sorted(other.pods), other.node_names())
    assert first == find_remedies(model, model.pod("default/pod")) == find_remedies(other, other.pod("default/pod"))
