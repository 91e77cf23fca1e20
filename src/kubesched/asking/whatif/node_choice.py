"""Which nodes are meant: names, or a label selector.

From a text to names of nodes, in the order given or of names; a text that means no node is an error that says what
there is.
"""

from kubesched.api.label_syntax import parse_selector
from kubesched.asking.model import ClusterModel, UnknownObjectError, nearest
from kubesched.errors import KubeschedError


def chosen_nodes(model: ClusterModel, text: str) -> tuple[str, ...]:
    """Return the nodes that `a,b`, `zone=a` or `gpu` (those with this label) means; raises KubeschedErrors."""
    if not any(sign in text for sign in "=!(<> ") and not _is_label(model, text):
        names = dict.fromkeys(name for name in text.split(",") if name)
        if not names:
            raise KubeschedError(f"no node is named: {text!r}; write names (a,b) or a label selector (zone=a)")
        return tuple(model.node(name).name for name in names)
    selector = parse_selector(text)
    matching = tuple(name for name in model.node_names() if selector.matches(model.node(name).metadata.labels))
    if not matching:
        raise UnknownObjectError(f"no node matches {text}{_what_there_is(model, text)}")
    return matching


def _is_label(model: ClusterModel, text: str) -> bool:
    """Return whether a text is no node's name, but the key of a label that nodes have."""
    if text in model.cluster.table.row_of:
        return False
    return any(node is not None and text in node.metadata.labels for node in model.cluster.table.nodes)


def _what_there_is(model: ClusterModel, text: str) -> str:
    """Return the end of a sentence: values that nodes have under the key of a selector, or the nearest keys."""
    key = text.partition("=")[0].strip("!= ")
    labels = [model.node(name).metadata.labels for name in model.node_names()]
    values = sorted({each[key] for each in labels if key in each})
    if values:
        return f"; nodes have {key} {', '.join(values[:5])}{' and others' if len(values) > 5 else ''}"
    return nearest(key, sorted({key for each in labels for key in each})) if labels else "; there are no nodes"
