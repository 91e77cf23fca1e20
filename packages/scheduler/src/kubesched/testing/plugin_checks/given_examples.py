"""Examples made of the author's objects: the whole list as a cluster, and crowds of pods.

From nodes, pods and other objects to examples. A plugin that counts pods against an object, such as seats of a
licence, rejects a pod only if enough pods with the right label run, which is rare in random clusters.
"""

from collections.abc import Iterator, Sequence

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.testing.builders import a_node, a_pod
from kubesched.testing.plugin_checks.cluster_example import ClusterExample, ExampleChange
from kubesched.testing.plugin_checks.object_details import ObjectDetail

MOST_CROWD = 4
MOST_GIVEN = 12


def crowded_examples(given: Sequence[ApiObject], details: Sequence[ObjectDetail]) -> Iterator[ClusterExample]:
    """Yield clusters in which some pods on a node, and the pod in question, have a detail in common.

    One of the pods ends, and then one of the objects is deleted.
    """
    others = tuple(obj for obj in given if not isinstance(obj, Node | Pod))
    node, asked, plain = _nodes(given)[0], a_pod("asked"), a_pod("asked1")
    for detail in details:
        for count in range(MOST_CROWD + 1):
            crowd = tuple(detail.applied(a_pod(f"p{number}", node=node.name)) for number in range(count))
            leaving = [*crowd[:1], *others[:1]]
            changes = tuple(ExampleChange(obj, None) for obj in leaving)
            yield ClusterExample((node, *others, *crowd), (detail.applied(asked), plain), changes)


def examples_as_given(given: Sequence[ApiObject]) -> Iterator[ClusterExample]:
    """Yield the given objects as one cluster, with a copy of each given pod in question, while each object disappears
    and returns.

    Without given nodes the pods run on a plain node.
    """
    nodes = _nodes(given)
    pods = [_on(obj, nodes[0].name) for obj in given if isinstance(obj, Pod)]
    if not pods:
        return
    others = [obj for obj in given if not isinstance(obj, Node | Pod)]
    cluster = (*nodes, *others, *pods)
    for pod in _distinct(pods)[:MOST_GIVEN]:
        asked = (_waiting(pod, "asked"), _waiting(pod, "asked1"))
        for obj in (*others, *pods, *nodes)[:MOST_GIVEN]:
            yield ClusterExample(cluster, asked, (ExampleChange(obj, None), ExampleChange(None, obj)))


def _nodes(given: Sequence[ApiObject]) -> list[Node]:
    """Return the given nodes, else a plain one."""
    return [obj for obj in given if isinstance(obj, Node)] or [a_node("n0")]


def _distinct(pods: Sequence[Pod]) -> list[Pod]:
    """Return one pod for each set of labels and specification, regardless of the node."""
    found: dict[bytes, Pod] = {}
    for pod in pods:
        plain = _waiting(pod, "asked")
        found.setdefault(msgspec.json.encode(plain), pod)
    return list(found.values())


def _on(pod: Pod, node: str) -> Pod:
    """Return a pod on its own node if it names one, else on this node."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=pod.spec.node_name or node))


def _waiting(pod: Pod, name: str) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, name=name, uid=f"{pod.metadata.namespace}-{name}")
    return msgspec.structs.replace(pod, metadata=metadata, spec=msgspec.structs.replace(pod.spec, node_name=""))
