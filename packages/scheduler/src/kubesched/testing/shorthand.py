"""Short texts for frequent parts of objects in tests.

From texts such as `dedicated=gpu:NoSchedule` or `app=web@zone` to API structs. A struct is returned unchanged, so that
every builder accepts either. Parts that a text cannot express are given as structs.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar, cast

from kubesched.api import labels
from kubesched.api.label_syntax import parse_selector
from kubesched.api.meta import LabelSelector, LabelSelectorRequirement, OwnerReference
from kubesched.api.pods import (
    ContainerPort,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinityTerm,
    Taint,
    Toleration,
)
from kubesched.errors import InvalidObjectError

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"

SelectorText = str | Mapping[str, str] | LabelSelector
T = TypeVar("T")

_TOPOLOGIES = {"hostname": HOSTNAME, "zone": ZONE, "region": REGION}
_OPERATORS = {
    labels.IN: "In",
    labels.EQUALS: "In",
    labels.DOUBLE_EQUALS: "In",
    labels.NOT_IN: "NotIn",
    labels.NOT_EQUALS: "NotIn",
    labels.EXISTS: "Exists",
    labels.DOES_NOT_EXIST: "DoesNotExist",
    labels.GREATER_THAN: "Gt",
    labels.LESS_THAN: "Lt",
}
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OWNER_VERSIONS = {"ReplicationController": "v1", "Job": "batch/v1", "Node": "v1"}


def several(value: T | Iterable[T]) -> tuple[T, ...]:
    """Return a tuple for one value or several; a text is one value."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return cast("tuple[T, ...]", (value,))
    return tuple(value)


def topology_key(text: str) -> str:
    """Return the label key for `zone`, `hostname` or `region`; any other text is a key itself."""
    return _TOPOLOGIES.get(text, text)


def label_selector(selector: SelectorText) -> LabelSelector:
    """Return the selector for `app=web,tier in (a,b),!old` or for a mapping of labels; a struct unchanged."""
    if isinstance(selector, LabelSelector):
        return selector
    if isinstance(selector, Mapping):
        return LabelSelector(match_labels=dict(selector))
    requirements = parse_selector(selector).requirements
    equalities = {r.key: r.values[0] for r in requirements if r.operator in (labels.EQUALS, labels.DOUBLE_EQUALS)}
    if len(equalities) == len(requirements):
        return LabelSelector(match_labels=equalities)
    return LabelSelector(
        match_expressions=tuple(
            LabelSelectorRequirement(key=r.key, operator=_OPERATORS[r.operator], values=r.values) for r in requirements
        )
    )


def taint(text: str | Taint) -> Taint:
    """Return the taint for `key=value:Effect` or `key:Effect`."""
    if isinstance(text, Taint):
        return text
    rest, _, effect = text.rpartition(":")
    if effect not in _EFFECTS:
        raise InvalidObjectError(f"taint {text!r}: write it as key=value:Effect; effects are {', '.join(_EFFECTS)}")
    key, _, value = rest.partition("=")
    return Taint(key=key, value=value, effect=effect)


def toleration(text: str | Toleration) -> Toleration:
    """Return the toleration for `key=value:Effect`, `key:Effect` (exists), `key` (any effect) or `*` (everything).

    `key>5` and `key<5` are the numeric operators.
    """
    if isinstance(text, Toleration):
        return text
    rest, colon, effect = text.rpartition(":")
    if not colon:
        rest, effect = text, ""
    for sign, operator in (("=", "Equal"), (">", "Gt"), ("<", "Lt")):
        key, found, value = rest.partition(sign)
        if found:
            return Toleration(key=key, operator=operator, value=value, effect=effect)
    return Toleration(key="" if rest == "*" else rest, operator="Exists", effect=effect)


def node_term(text: str | NodeSelectorTerm) -> NodeSelectorTerm:
    """Return the node selector term for `disk=ssd,cores>8`; `metadata.name` is a field, other keys are labels."""
    if isinstance(text, NodeSelectorTerm):
        return text
    expressions: list[NodeSelectorRequirement] = []
    fields: list[NodeSelectorRequirement] = []
    for requirement in parse_selector(text).requirements:
        written = NodeSelectorRequirement(
            key=requirement.key, operator=_OPERATORS[requirement.operator], values=requirement.values or None
        )
        (fields if requirement.key == "metadata.name" else expressions).append(written)
    return NodeSelectorTerm(match_expressions=tuple(expressions), match_fields=tuple(fields))


def pod_term(text: str | PodAffinityTerm) -> PodAffinityTerm:
    """Return the pod affinity term for `app=web@zone`: a label selector and a topology key."""
    if isinstance(text, PodAffinityTerm):
        return text
    selector, at, topology = text.rpartition("@")
    if not at:
        raise InvalidObjectError(f"affinity term {text!r}: write it as selector@topology, such as app=web@zone")
    return PodAffinityTerm(label_selector=label_selector(selector), topology_key=topology_key(topology))


def host_port(port: int | str | ContainerPort) -> ContainerPort:
    """Return the host port for `80` or `10.0.0.1:80/UDP`."""
    if isinstance(port, ContainerPort):
        return port
    rest, _, protocol = str(port).partition("/")
    ip, _, number = rest.rpartition(":")
    return ContainerPort(
        container_port=int(number), host_port=int(number), host_ip=ip, protocol=(protocol or "TCP").upper()
    )


def owner_reference(text: str | OwnerReference, namespace: str) -> OwnerReference:
    """Return the controller reference for `ReplicaSet/web`."""
    if isinstance(text, OwnerReference):
        return text
    kind, _, name = text.partition("/")
    return OwnerReference(
        api_version=_OWNER_VERSIONS.get(kind, "apps/v1"),
        kind=kind,
        name=name,
        uid=f"{namespace}-{name}",
        controller=True,
    )
