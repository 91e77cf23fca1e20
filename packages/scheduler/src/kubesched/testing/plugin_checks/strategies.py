"""Random clusters, pods and changes, small and simple ones first.

From the words of a plugin, and objects or strategies of its author, to a strategy of examples. It needs Hypothesis,
from the extra `testing`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.testing.builders import a_node, a_pod
from kubesched.testing.plugin_checks.cluster_example import ClusterExample, ExampleChange, changed
from kubesched.testing.plugin_checks.given_examples import crowded_examples, examples_as_given
from kubesched.testing.plugin_checks.object_details import (
    ObjectDetail,
    likely_details,
    looked_up_entries,
    node_details,
    pod_details,
)
from kubesched.testing.plugin_checks.vocabulary import words_of_objects

MOST_NODES = 3
MOST_PODS = 3
MOST_DETAILS = 6
MOST_LOOKED_UP = 12
# a list of objects, or a strategy of one
Objects = SearchStrategy[Any] | Sequence[Any]


@dataclass(frozen=True)
class ExampleStrategies:
    """Strategies of each part of an example; nodes and pods change by details, the author's objects by other
    objects.
    """

    nodes: SearchStrategy[Node]
    pods: SearchStrategy[Pod]
    objects: SearchStrategy[ApiObject] | None
    node_changes: SearchStrategy[ObjectDetail] | None = None
    pod_changes: SearchStrategy[ObjectDetail] | None = None
    simple_node_details: Sequence[ObjectDetail] = ()
    simple_pod_details: Sequence[ObjectDetail] = ()
    # the author's objects, if they are lists and no strategies
    given: Sequence[ApiObject] = ()
    # labels of pods whose values are words of these objects
    looked_up_details: Sequence[ObjectDetail] = ()

    @classmethod
    def for_words(
        cls,
        words: Sequence[str],
        *,
        nodes: Objects | None = None,
        pods: Objects | None = None,
        objects: Objects | None = None,
    ) -> "ExampleStrategies":
        """Return strategies for a plugin with these words in its code; the author's objects replace random ones."""
        values = words_of_objects(_listed(objects))
        of_nodes, of_pods = _details(node_details(words, values)), _details(pod_details(words, values))
        plain_nodes = [a_node(name) for name in ("n0", "n1", "n2")]
        plain_pods = [a_pod(name) for name in ("p0", "p1", "p2", "p3")]
        return cls(
            _detailed(plain_nodes, of_nodes) if nodes is None else as_strategy(nodes),
            _detailed(plain_pods, of_pods) if pods is None else as_strategy(pods),
            None if objects is None else as_strategy(objects),
            of_nodes if nodes is None else None,
            of_pods if pods is None else None,
            likely_details(node_details(words)) if nodes is None else (),
            likely_details(pod_details(words)) if pods is None else (),
            [*_listed(nodes), *_listed(pods), *_listed(objects)],
            looked_up_entries(("metadata", "labels"), words, values)[:MOST_LOOKED_UP],
        )

    def simple_examples(self) -> Iterator[ClusterExample]:
        """Yield the smallest clusters: one node, and one detail that is added and removed."""
        node, pod, other = a_node("n0"), a_pod("asked"), a_pod("asked1")
        yield ClusterExample((node,), (pod, other))
        yield ClusterExample((node, a_node("n1")), (pod, other))
        for detail in self.simple_node_details:
            special = detail.applied(node)
            yield ClusterExample((special,), (pod, other), (ExampleChange(special, node),))
            yield ClusterExample((node,), (pod, other), (ExampleChange(node, special),))
        placed = a_pod("p0", node="n0")
        yield ClusterExample((node, placed), (pod, other), (ExampleChange(placed, None),))
        yield ClusterExample((node,), (pod, other), (ExampleChange(None, placed),))
        for detail in self.simple_pod_details:
            yield ClusterExample((node,), (pod, detail.applied(other)))
            on_node = detail.applied(placed)
            change = ExampleChange(on_node, placed)
            yield ClusterExample((node, on_node), (detail.applied(pod), other), (change,))
            if detail.key:
                matching, plain = detail.applied(a_node("n1")), a_node("n1")
                wanting = (detail.applied(pod), other)
                yield ClusterExample((node, plain), wanting, (ExampleChange(plain, matching),))
                yield ClusterExample((node, matching), wanting, (ExampleChange(matching, plain),))
        yield from crowded_examples(self.given, self.looked_up_details)
        yield from examples_as_given(self.given)

    def examples(self, *, asked: int = 1, changes: int = 0) -> SearchStrategy[ClusterExample]:
        """Return a strategy of clusters with a number of pods in question and a number of changes."""
        return _examples(self, asked, changes)


def _listed(objects: Objects | None) -> Sequence[Any]:
    return () if objects is None or isinstance(objects, SearchStrategy) else objects


def as_strategy(objects: Objects) -> SearchStrategy[Any]:
    """Return the author's strategy, or one of the objects of a list."""
    return objects if isinstance(objects, SearchStrategy) else st.sampled_from(list(objects))


def _details(groups: Sequence[Sequence[ObjectDetail]]) -> SearchStrategy[ObjectDetail]:
    return st.one_of([st.sampled_from(list(group)) for group in groups])


@st.composite
def _detailed(draw: DrawFn, plain: Sequence[Any], details: SearchStrategy[ObjectDetail]) -> Any:
    """Draw one of some plain objects, with details."""
    obj = draw(st.sampled_from(list(plain)))
    for detail in draw(st.lists(details, max_size=MOST_DETAILS)):
        obj = detail.applied(obj)
    return obj


@st.composite
def _examples(draw: DrawFn, parts: ExampleStrategies, asked: int, changes: int) -> ClusterExample:
    nodes = _by_name(draw(st.lists(parts.nodes, min_size=1, max_size=MOST_NODES)))
    placed = [_on(pod, draw(st.sampled_from(sorted(nodes)))) for pod in draw(st.lists(parts.pods, max_size=MOST_PODS))]
    others = [] if parts.objects is None else draw(st.lists(parts.objects, max_size=MOST_NODES))
    objects: list[ApiObject] = [*nodes.values(), *_by_name(placed).values(), *_by_name(others).values()]
    pods = [_named(draw(parts.pods), f"asked{number or ''}") for number in range(asked)]
    happened: list[ExampleChange] = []
    there = list(objects)
    for _ in range(draw(st.integers(0, changes)) if changes else 0):
        change = draw(_changes(parts, there))
        there = changed(there, change)
        happened.append(change)
    return ClusterExample(tuple(objects), tuple(pods), tuple(happened))


@st.composite
def _changes(draw: DrawFn, parts: ExampleStrategies, there: Sequence[ApiObject]) -> ExampleChange:
    """Draw a change: one field of a node or pod, or an object that is added or removed."""
    known = {(type(obj).__name__, obj.full_name): obj for obj in there}
    node_names = sorted(obj.name for obj in there if isinstance(obj, Node))
    new: list[SearchStrategy[Any]] = [parts.nodes]
    if node_names:
        new.append(st.builds(_on, parts.pods, st.sampled_from(node_names)))
    if parts.objects is not None:
        new.append(parts.objects)
    how = draw(st.sampled_from(("changes", "changes", "is added", "goes"))) if there else "is added"
    if how == "is added":
        made = draw(st.one_of(new))
        return ExampleChange(known.get((type(made).__name__, made.full_name)), made)
    old = draw(st.sampled_from(list(there)))
    if how == "goes":
        return ExampleChange(old, None)
    return ExampleChange(old, _changed(draw, old, parts))


def _changed(draw: DrawFn, old: ApiObject, parts: ExampleStrategies) -> ApiObject:
    """Return an object with another detail, or with the content of another one."""
    if isinstance(old, Node) and parts.node_changes is not None:
        return draw(parts.node_changes).applied(old)
    if isinstance(old, Pod) and parts.pod_changes is not None:
        return draw(parts.pod_changes).applied(old)
    others = parts.nodes if isinstance(old, Node) else parts.pods if isinstance(old, Pod) else parts.objects
    other = draw(others) if others is not None else old
    if not isinstance(other, type(old)):
        return old
    names = {"name": old.metadata.name, "namespace": old.metadata.namespace, "uid": old.uid}
    changed_one: ApiObject = msgspec.structs.replace(other, metadata=msgspec.structs.replace(other.metadata, **names))
    return (
        _on(changed_one, old.spec.node_name) if isinstance(changed_one, Pod) and isinstance(old, Pod) else changed_one
    )


def _by_name(objects: Sequence[Any]) -> Mapping[str, Any]:
    return {obj.full_name if not isinstance(obj, Node) else obj.name: obj for obj in objects}


def _on(pod: Pod, node: str) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))


def _named(pod: Pod, name: str) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, name=name, uid=f"{pod.metadata.namespace}-{name}")
    return msgspec.structs.replace(pod, metadata=metadata)
