"""The nodes that a text selects: names, or a label selector.

From a text to names of nodes, in the given order or by name; for a text that selects no node it raises an error with
the existing names or values.
"""

import difflib
from collections.abc import Mapping, Sequence

from kubesched.api.label_syntax import parse_selector
from kubesched.api.labels import Requirement, Selector, selector_of
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError, nearest

MOST_NAMED = 5


def chosen_nodes(model: ClusterModel, text: str) -> tuple[str, ...]:
    """Return the nodes that `a,b`, `zone=a` or `gpu` (nodes with this label) selects; raises KubeschedErrors."""
    if not any(sign in text for sign in "=!(<> ") and not _is_label(model, text):
        names = dict.fromkeys(name for name in text.split(",") if name)
        if not names:
            raise KubeschedError(f"{text!r} names no node; write names (a,b) or a label selector (zone=a)")
        return tuple(model.node(name).name for name in names)
    selector = parse_selector(text)
    matching = tuple(name for name in model.node_names() if selector.matches(model.node(name).metadata.labels))
    if not matching:
        raise UnknownObjectError(f"no node matches the label selector {text}{_what_there_is(model, selector)}")
    return matching


def _is_label(model: ClusterModel, text: str) -> bool:
    """Return whether a text is the key of a node label, and not the name of a node."""
    if text in model.cluster.table.row_of:
        return False
    return any(node is not None and text in node.metadata.labels for node in model.cluster.table.nodes)


def _what_there_is(model: ClusterModel, selector: Selector) -> str:
    """Return the end of a sentence: the alternatives to the part of a selector that no node matches."""
    labels = [model.node(name).metadata.labels for name in model.node_names()]
    if not labels:
        return "; there are no nodes"
    for requirement in selector.requirements:
        if not any(map(selector_of([requirement]).matches, labels)):
            return _instead_of(requirement, labels)
    return "; every part of it matches some node, but no node all of them"


def _instead_of(requirement: Requirement, labels: Sequence[Mapping[str, str]]) -> str:
    """Return the values that nodes have under the key of a requirement, the nearest first; or the nearest keys."""
    key, wanted = requirement.key, requirement.values[0] if requirement.values else ""
    if any(key in each for each in labels):
        return f"; nodes have {key} {_values(key, wanted, labels)}"
    keys = sorted({key for each in labels for key in each})
    # users may leave out the prefix
    close = [other for other in keys if _name(other) == _name(key)] or difflib.get_close_matches(key, keys, cutoff=0.5)
    if not close:
        return f"; no node has label {key}{nearest(key, keys)}"
    meant = " or ".join(f"{other} ({_values(other, wanted, labels)})" for other in close[:MOST_NAMED])
    return f"; no node has label {key}; did you mean {meant}?"


def _name(key: str) -> str:
    return key.rpartition("/")[2]


def _values(key: str, wanted: str, labels: Sequence[Mapping[str, str]]) -> str:
    """Return the values of a label, the nearest first, at most a few."""
    values = sorted({each[key] for each in labels if key in each})
    ordered = list(dict.fromkeys([*difflib.get_close_matches(wanted, values, cutoff=0.5), *values]))
    listed = ", ".join(value or "without a value" for value in ordered[:MOST_NAMED])
    return listed + (" and others" if len(values) > MOST_NAMED else "")
