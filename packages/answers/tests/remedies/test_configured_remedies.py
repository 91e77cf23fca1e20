"""Remedies that depend on the scheduler's configuration, on feature gates and on what cannot be read."""

from typing import Any, NamedTuple

import msgspec
import pytest
from tests.support.remedy_proofs import check, model_of

from kubesched.api.codec import to_builtins
from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject, LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference
from kubesched.api.pods import Container, ContainerRestartRule, Pod
from kubesched.api.scheduling import PriorityClass
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.cluster.devices.resource_claims import EXTENDED_RESOURCE_CLAIM
from kubesched.testing import a_budget, a_container, a_node, a_pod, a_service, a_spread
from kubesched.testing.devices import a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched_answers.remedies.search import find_remedies

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
ZONE = "topology.kubernetes.io/zone"
WEB = {"app": "web"}


def with_args(plugin: str, args: str, profile: str = "default-scheduler") -> str:
    return f"- schedulerName: {profile}\n  pluginConfig:\n  - name: {plugin}\n    args: {args}\n"


def added(expression: str) -> str:
    terms = f"{{nodeSelectorTerms: [{{matchExpressions: [{{{expression}}}]}}]}}"
    return with_args("NodeAffinity", f"{{addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}}")


POOL_A = load_config(HEAD + added("key: pool, operator: In, values: [a, b]"))
NO_POOL = load_config(HEAD + added("key: pool, operator: DoesNotExist"))
NAMED = load_config(
    HEAD
    + added("key: gen, operator: Gt, values: ['2']").replace(
        "matchExpressions:", "matchFields: [{key: metadata.name, operator: In, values: [n6]}], matchExpressions:"
    )
)
ZONE_B = load_config(HEAD + added(f"key: {ZONE}, operator: In, values: [b]") + "- schedulerName: everywhere\n")
SPREAD = load_config(
    HEAD
    + with_args(
        "PodTopologySpread",
        f"{{defaultingType: List, defaultConstraints: [{{maxSkew: 1, topologyKey: {ZONE}, "
        "whenUnsatisfiable: DoNotSchedule}]}",
    )
)
PLAIN = load_config()
FEATURES = load_config(
    None,
    FeatureGates(
        {
            "NodeDeclaredFeatures": True,
            "RestartAllContainersOnContainerExits": True,
            "UserNamespacesHostNetworkSupport": True,
        }
    ),
)
DEFAULTS = "the default constraints of the scheduler's configuration"
ENFORCED = "which addedAffinity of the scheduler's configuration demands"
UNREADABLE = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Like", values=("web",)),))


def an_earlier_claim(pod_uid: str) -> ResourceClaim:
    """Return a claim that the scheduler made for the extended resources of a pod."""
    owner = OwnerReference(api_version="v1", kind="Pod", name="pod", uid=pod_uid, controller=True)
    annotations = {EXTENDED_RESOURCE_CLAIM: "true"}
    claim = a_resource_claim("earlier", a_device_request())
    meta = msgspec.structs.replace(claim.metadata, owner_references=(owner,), annotations=annotations)
    return msgspec.structs.replace(claim, metadata=meta)


def a_class(name: str, value: int, **fields: Any) -> PriorityClass:
    return PriorityClass(metadata=ObjectMeta(name=name, uid=name), value=value, **fields)


class Configured(NamedTuple):
    """A configuration, a cluster, a pod without a node, and its remedies with the nodes it goes to then."""

    loaded: Loaded
    objects: list[ApiObject]
    pod: Pod
    remedies: list[tuple[str, str]]


def crowded(*nodes: ApiObject) -> list[ApiObject]:
    """Return nodes, the first with two pods that a service selects, the others full."""
    first, *others = nodes
    pods = [a_pod(name, labels=WEB, node=first.name) for name in ("w", "x")]
    full = [a_pod(f"full-{node.name}", cpu="4", node=node.name, owner="DaemonSet/agent") for node in others]
    return [*nodes, *pods, *full, a_service("web", WEB)]


CASES: dict[str, Configured] = {
    "a label that addedAffinity wants": Configured(
        POOL_A,
        [a_node("n1", labels={"pool": "c"}), a_node("n2")],
        a_pod(),
        [(f"add label pool=a to node n2, {ENFORCED}", "n2")],
    ),
    "a label of the node that addedAffinity names": Configured(
        NAMED,
        [a_node(f"n{number}") for number in range(8)],
        a_pod(),
        [(f"add label gen=3 to node n6, {ENFORCED}", "n6")],
    ),
    "a label that addedAffinity forbids": Configured(
        NO_POOL, [a_node("n1", labels={"pool": "c"})], a_pod(), [(f"remove label pool from node n1, {ENFORCED}", "n1")]
    ),
    "addedAffinity, and the pod's own selector": Configured(
        POOL_A,
        [a_node("n1", labels={"disk": "hdd"})],
        a_pod(node_selector={"disk": "ssd"}),
        [
            (
                f"add label pool=a to node n1, {ENFORCED}; change disk in the node selector from ssd to hdd",
                "n1",
            ),
            (
                f"add label pool=a to node n1, {ENFORCED}; change label disk of node n1 from hdd to ssd",
                "n1",
            ),
        ],
    ),
    "a profile without the addedAffinity that no label of a node can meet": Configured(
        ZONE_B,
        [a_node("n1", zone="a")],
        a_pod(),
        [("change the scheduler name of the pod from default-scheduler to everywhere", "n1")],
    ),
    "a node without the label of a default constraint": Configured(
        SPREAD,
        [a_node("n1"), a_node("n2", zone="b", cpu="1"), a_service("web", WEB)],
        a_pod(cpu="2", labels=WEB),
        [
            ("lower the cpu request of container main from 2 to 1", "n2"),
            (f"spread the pod itself over {ZONE} with ScheduleAnyway, in place of {DEFAULTS}", "n1"),
            (f"add label {ZONE}=b to node n1", "n1"),
        ],
    ),
    "a default constraint that the domains' pods break": Configured(
        SPREAD,
        crowded(a_node("n1", zone="a"), a_node("n2", zone="b")),
        a_pod(cpu="1", labels=WEB),
        [
            ("add a node like n2", "n2-new-1"),
            (f"spread the pod itself over {ZONE} with ScheduleAnyway, in place of {DEFAULTS}", "n1"),
            ("move pod default/w from node n1 to n2; evict pod default/x from node n1", "n1"),
        ],
    ),
    "a feature that the pod's restart rules need": Configured(
        FEATURES,
        [a_node("n1", features=["A"])],
        a_pod(
            containers=[
                Container(name="app", restart_policy_rules=(ContainerRestartRule(action="RestartAllContainers"),)),
                a_container("log"),
            ]
        ),
        [
            ("remove the restart rules RestartAllContainers of container app", "n1"),
            (
                "enable feature RestartAllContainersOnContainerExits on node n1, so that its kubelet declares it",
                "n1",
            ),
        ],
    ),
    "a feature that a pod on the host's network with users of its own needs": Configured(
        FEATURES,
        [a_node("n1")],
        a_pod(host_network=True, host_users=False),
        [
            ("let the pod have the users of its host (hostUsers)", "n1"),
            ("enable feature UserNamespacesHostNetworkSupport on node n1, so that its kubelet declares it", "n1"),
        ],
    ),
    "a spread constraint that cannot be read": Configured(
        PLAIN,
        [a_node("n1", zone="a")],
        a_pod(spread=a_spread("zone", UNREADABLE)),
        [(f"remove the spread over {ZONE}", "n1")],
    ),
    "a soft spread constraint that cannot be read": Configured(
        PLAIN,
        [a_node("n1", zone="a"), a_node("n2", zone="b")],
        a_pod(spread=a_spread("zone", UNREADABLE, soft=True)),
        [(f"remove the spread over {ZONE}", "n1")],
    ),
    "a host port of a pod on the host's network": Configured(
        PLAIN,
        [a_node("n1"), a_pod("w", node="n1", ports=[8080], owner="DaemonSet/agent")],
        a_pod(ports=[8080], host_network=True),
        [
            ("add a node like n1", "n1-new-1"),
            ("take the pod off the host's network, with its host port 8080", "n1"),
        ],
    ),
    "a claim that an earlier attempt has left": Configured(
        PLAIN,
        [
            a_node("n1"),
            a_device_class("gpu", extended_resource="example.com/gpu"),
            a_slice("s", "gpu-0", node="n1"),
            an_earlier_claim("default-pod"),
        ],
        a_pod(requests={"example.com/gpu": "1"}),
        [("delete resource claim default/earlier, which is left from an earlier attempt", "n1")],
    ),
    "a priority class whose pods preempt others, the lowest that helps": Configured(
        PLAIN,
        [
            a_node("n1", cpu="4"),
            a_pod("w", cpu="4", node="n1", priority=10, labels=WEB),
            a_budget("keep", "app=web", allowed=0),
            a_class("low", 5),
            a_class("high", 20),
            a_class("higher", 30),
            a_class("never", 15, preemption_policy="Never"),
            a_class("system-node-critical", 2_000_001_000),
        ],
        a_pod(cpu="4", priority=1),
        [
            ("add a node like n1", "n1-new-1"),
            ("set the priority class to high (priority 20 in place of 1), which preempts pod default/w on n1", "n1"),
        ],
    ),
    "no priority class where the pod preempts already": Configured(
        PLAIN,
        [a_node("n1", cpu="4"), a_pod("w", cpu="4", node="n1"), a_class("high", 20)],
        a_pod(cpu="4", priority=1),
        [("add a node like n1", "n1-new-1"), ("evict pod default/w from node n1", "n1")],
    ),
    "a gate, and then a priority class": Configured(
        PLAIN,
        [
            a_node("n1", cpu="1"),
            a_pod("w", cpu="1", node="n1", labels=WEB),
            a_budget("keep", "app=web", allowed=0),
            a_class("high", 20),
        ],
        a_pod(cpu="1", gates=["wait"]),
        [
            ("remove scheduling gate wait; add a node like n1", "n1-new-1"),
            (
                "remove scheduling gate wait; set the priority class to high (priority 20 in place of 0), "
                "which preempts pod default/w on n1",
                "n1",
            ),
        ],
    ),
}


@pytest.mark.parametrize("in_cluster", [True, False], ids=["pending", "asked about"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_remedies(case: Configured, in_cluster: bool) -> None:
    documents: list[Any] = [to_builtins(obj) for obj in (*case.objects, case.pod)]
    model = model_of(documents if in_cluster else documents[:-1], case.loaded)
    remedies = find_remedies(model, model.read(case.pod))
    assert [(remedy.summary, remedy.node) for remedy in remedies] == case.remedies
    assert all(remedy.preempts == ("default/w",) for remedy in remedies if "preempts" in remedy.summary)
    for remedy in remedies:
        check(documents, case.loaded, case.pod.full_name, remedy)
