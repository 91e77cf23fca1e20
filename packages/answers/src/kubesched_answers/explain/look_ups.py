"""The part of a node that is in a pod's way, by plugin: names of taints, labels, ports, terms, volumes.

From a node that a plugin rejected to a subject (the same on every node, so that causes can be compared) and a text
about the node. Only certain facts are named; without any the plugin's reason is used.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kubesched.api import labels
from kubesched.api.labels import Requirement, Selector, selector_of
from kubesched.api.node_selectors import CompiledTerm, required_node_affinity
from kubesched.api.nodes import Node
from kubesched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubesched.api.tolerations import forbids_scheduling, tolerated_by_any
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.ports import conflicts
from kubesched.core.cluster.storage.free_volumes import affinity_selector
from kubesched.core.plugins.inter_pod_affinity.filtering import AFFINITY, ANTI_AFFINITY
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.explain.rejecting_terms import APART, NEAR, SPREAD, RejectingTerms
from kubesched_answers.remedies.proposers.taints import text_of as taint_text

HOSTNAME = "kubernetes.io/hostname"
# what is lacking, and what is said of a node
Named = tuple[str, str]
_COMPARISON = "TaintTolerationComparisonOperators"


class RejectedNode(NamedTuple):
    """A node on which a plugin rejects a pod, for some reasons."""

    model: ClusterModel
    pod: PodInfo
    node: Node
    row: int
    reasons: tuple[str, ...]
    terms: RejectingTerms


# -- taints


def _taints(rejected: RejectedNode) -> Iterator[Named]:
    comparison = rejected.model.loaded.gates.enabled(_COMPARISON)
    for taint in rejected.node.spec.taints:
        if forbids_scheduling(taint) and not tolerated_by_any(taint, rejected.pod.spec.tolerations, comparison):
            yield f"taint {taint_text(taint)}", f"has taint {taint_text(taint)}"


# -- labels


def _node_affinity(rejected: RejectedNode) -> Iterator[Named]:
    """Return the labels that node selector and node affinity miss; of alternative terms, only the nearest counts."""
    node, required = rejected.node, required_node_affinity(rejected.pod.spec)
    node_labels = node.metadata.labels
    yield from _of_labels(required.labels, node_labels)
    if required.terms is not None and not required.terms.matches(node_labels, node.name):
        terms = [_of_term(term, node) for term in required.terms.terms]
        yield from min(terms, key=len, default=[("node affinity", "its node affinity has no terms")])


def _of_term(term: CompiledTerm, node: Node) -> list[Named]:
    if term.problems:
        return [("node affinity", f"a term of its node affinity cannot be read: {each}") for each in term.problems]
    lacking = list(_of_labels(term.labels, node.metadata.labels))
    for check in term.fields:
        if not check.matches(node.name):
            wanted = f"{'' if check.wanted else 'not '}{check.value}"
            lacking.append((f"{check.key} {wanted}", f"{check.key} is {node.name}, {wanted} wanted"))
    return lacking


def _of_labels(selector: Selector, node_labels: Mapping[str, str]) -> Iterator[Named]:
    """Return the requirements that labels do not satisfy."""
    for requirement in selector.requirements:
        if not selector_of([requirement]).matches(node_labels):
            yield f"label {requirement}", label_text(requirement, node_labels)


def label_text(requirement: Requirement, node_labels: Mapping[str, str]) -> str:
    """Return a label with its value and the wanted value: `label disk is hdd, ssd wanted`."""
    key, operator = requirement.key, requirement.operator
    has = f"label {key} is {node_labels[key] or 'empty'}" if key in node_labels else f"label {key} is missing"
    wanted = _WANTED.get(operator, _as_selector)
    return f"{has}, {wanted(requirement)} wanted"


def _as_selector(requirement: Requirement) -> str:
    return str(requirement)


def _one_of(requirement: Requirement) -> str:
    return " or ".join(requirement.values)


_WANTED: Mapping[str, Callable[[Requirement], str]] = {
    labels.IN: _one_of,
    labels.EQUALS: _one_of,
    labels.DOUBLE_EQUALS: _one_of,
    labels.NOT_IN: lambda requirement: f"not {_one_of(requirement)}",
    labels.EXISTS: lambda requirement: "any value",
    labels.DOES_NOT_EXIST: lambda requirement: "none",
}


# -- ports


def _ports(rejected: RejectedNode) -> Iterator[Named]:
    table = rejected.model.cluster.table
    for port in rejected.pod.digest.host_ports:
        if conflicts(port.ip, table.ports.users(port).get(rejected.row, ())):
            users = [
                other.full_name
                for other in table.pods_on[rejected.row].values()
                for theirs in other.digest.host_ports
                if (theirs.protocol, theirs.port) == (port.protocol, port.port)
            ]
            name = f"host port {port.port}/{port.protocol}"
            yield name, f"{name} is taken by {', '.join(sorted(users))}"


# -- other pods


def _spread(rejected: RejectedNode) -> Iterator[Named]:
    """Return the constraints that would be violated, or those whose label the node lacks."""
    node_labels = rejected.node.metadata.labels
    constraints = [
        each for each in rejected.pod.spec.topology_spread_constraints if each.when_unsatisfiable == "DoNotSchedule"
    ]
    absent = [each.topology_key for each in constraints if each.topology_key not in node_labels]
    for key in absent:
        yield f"spread label {key}", f"has no label {key}, over which the pod is spread"
    for place in rejected.terms.alone(SPREAD, rejected.row) if not absent else ():
        key, skew = constraints[place].topology_key, constraints[place].max_skew
        where = f"{key} {node_labels[key]}"
        yield f"spread over {key}", f"would break the pod's spread over {key} (maxSkew {skew}): {where} has its share"


def _pod_affinity(rejected: RejectedNode) -> Iterator[Named]:
    """Return the unsatisfied terms."""
    terms = rejected.pod.affinity
    if AFFINITY.message in rejected.reasons:
        for place in rejected.terms.alone(NEAR, rejected.row):
            term = terms.required_affinity[place]
            where = f"{term.selector} {_domain(rejected.node, term.topology_key)}"
            yield f"pod affinity {term.selector}", f"has no pod with {where}, which its pod affinity wants"
    elif ANTI_AFFINITY.message in rejected.reasons:
        for place in rejected.terms.alone(APART, rejected.row):
            term = terms.required_anti_affinity[place]
            where = f"{term.selector} {_domain(rejected.node, term.topology_key)}"
            forbids = "which its anti-affinity forbids beside it"
            yield f"pod anti-affinity {term.selector}", f"has a pod with {where}, {forbids}"


def _domain(node: Node, key: str) -> str:
    value = node.metadata.labels.get(key)
    if value is None:
        return f"(it has no label {key})"
    return "on it" if key == HOSTNAME else f"in its {key} {value}"


# -- volumes


def _volumes(rejected: RejectedNode) -> Iterator[Named]:
    """Return the bound volumes of the pod that the node cannot reach."""
    objects, pod, node = rejected.model.cluster.objects, rejected.pod, rejected.node
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        claim = objects.get(PersistentVolumeClaim, f"{pod.namespace}/{source.claim_name}") if source else None
        bound = objects.get(PersistentVolume, claim.spec.volume_name) if claim is not None else None
        selector = affinity_selector(bound) if bound is not None else None
        if bound is not None and selector is not None and not selector.matches(node.metadata.labels, node.name):
            terms = [_of_term(term, node) for term in selector.terms]
            why = "; ".join(message for _, message in min(terms, key=len, default=[]))
            yield f"volume {bound.name}", f"is out of reach of volume {bound.name}" + (f" ({why})" if why else "")


LOOK_UPS: Mapping[str, Callable[[RejectedNode], Iterator[Named]]] = {
    "TaintToleration": _taints,
    "NodeAffinity": _node_affinity,
    "NodePorts": _ports,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _pod_affinity,
    "VolumeBinding": _volumes,
}
