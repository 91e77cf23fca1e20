"""Which nodes are meant: names, or a label selector.

From a text to names of nodes, in the order given or of names; a text that means no node is an error that says what
there is.
"""

from kubesched.api.label_syntax import parse_selector
from kubesched.asking.model import ClusterModel, UnknownObjectError, nearest


def chosen_nodes(model: ClusterModel, text: str) -> tuple[str, ...]:
    """Return the nodes that `a,b` or `zone=a` means; raises UnknownObjectError and InvalidSelectorError."""
    if not any(sign in text for sign in "=!(<> "):
        return tuple(model.node(name).name for name in text.split(",") if name or text == name)
    selector = parse_selector(text)
    names = tuple(name for name in model.node_names() if selector.matches(model.node(name).metadata.labels))
    if not names:
        raise UnknownObjectError(f"no node matches {text}{_what_there_is(model, text)}")
    return names


def _what_there_is(model: ClusterModel, text: str) -> str:
    """Return the end of a sentence: values that nodes have under the key of a selector, or the nearest keys."""
    key = text.partition("=")[0].strip("!= ")
    labels = [model.node(name).metadata.labels for name in model.node_names()]
    values = sorted({each[key] for each in labels if key in each})
    if values:
        return f"; nodes have {key} {', '.join(values[:5])}{' and others' if len(values) > 5 else ''}"
    return nearest(key, sorted({key for each in labels for key in each})) if labels else "; there are no nodes"
