"""NodeAffinity: the pod's nodeSelector and required node affinity, or the labels of the node.

From the demands that a node does not meet to steps that change the demand, or the node.
"""

from collections.abc import Iterable, Iterator

from kubesched.api.codec import to_builtins
from kubesched.api.labels import label_value_problems, parse_int64
from kubesched.api.node_selectors import NAME_FIELD, compile_term
from kubesched.api.nodes import Node
from kubesched.api.pods import NodeSelectorRequirement, NodeSelectorTerm
from kubesched.core.plugins.node_affinity import ENFORCED, NodeAffinity, required_of
from kubesched_answers.remedies.proposers.obstacles import Obstacle, field, labelled, may_label, pod_step
from kubesched_answers.remedies.steps import Document, Edit, Step, Steps
from kubesched_answers.remedies.trials import Trial

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def node_selection(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield changes of the pod, then labels of the node."""
    if obstacle.row is None:
        # its demands contradict each other or are invalid
        yield (_without_affinity(trial),)
        yield (_without_affinity(trial, PREFERRED),)
        return
    if obstacle.status.reasons == ENFORCED.reasons:
        # the profile's demands come first
        return
    node = trial.node(obstacle.row)
    unmet = _unmet_selector(trial, node)
    term = _nearest_term(trial, node)
    of_pod = [_selecting(trial, key, node) for key in unmet]
    yield (*of_pod, *_terms(trial, term, node))
    wanted: dict[str, str | None] = {key: (trial.pod.spec.node_selector or {})[key] for key in unmet}
    labels = labels_for(term, node, wanted)
    if labels is not None:
        yield tuple(labelled(node, labels))


def unmet_demands(trial: Trial, node: Node) -> int:
    """Return how many demands of the pod a node does not meet, in its selector and in the nearest term."""
    term = _nearest_term(trial, node)
    return len(_unmet_selector(trial, node)) + (len(_unmet(term, node)) if term is not None else 0)


def _unmet_selector(trial: Trial, node: Node) -> list[str]:
    wanted = trial.pod.spec.node_selector or {}
    return [key for key, value in wanted.items() if node.metadata.labels.get(key) != value]


# -- of the pod


def _selecting(trial: Trial, key: str, node: Node) -> Step:
    """Return the step that makes an entry of nodeSelector match the node."""
    old = (trial.pod.spec.node_selector or {})[key]
    value = node.metadata.labels.get(key)

    def edit(document: Document) -> None:
        selector = field(document, "spec", "nodeSelector")
        if selector.get(key) != old:
            return
        if value is None:
            selector.pop(key, None)
        else:
            selector[key] = value

    if value is None:
        return pod_step(trial, f"nodeSelector {key}", f"remove {key}={old} from the node selector", edit, 1.0)
    return pod_step(trial, f"nodeSelector {key}", f"change {key} in the node selector from {old} to {value}", edit)


def added_terms(trial: Trial) -> tuple[NodeSelectorTerm, ...]:
    """Return the terms of which the profile demands one of every node."""
    plugin = trial.profile.plugins.get(NodeAffinity.name) if trial.profile is not None else None
    return plugin.added_terms if isinstance(plugin, NodeAffinity) else ()


def named_rows(trial: Trial) -> list[int]:
    """Return the rows of nodes that the profile demands by name."""
    fields = (each for term in added_terms(trial) for each in term.match_fields if each.operator == "In")
    row_of = trial.model.cluster.table.row_of
    return list(dict.fromkeys(row_of[name] for each in fields for name in each.values or () if name in row_of))


def selected_labels(trial: Trial) -> frozenset[str]:
    """Return the keys of labels that the pod and its profile demand of nodes."""
    affinity = required_of(trial.pod).affinity
    of_profile = frozenset(each.key for term in added_terms(trial) for each in term.match_expressions)
    return of_profile | (affinity.keys if affinity is not None else frozenset())


def _nearest_term(trial: Trial, node: Node) -> NodeSelectorTerm | None:
    """Return the required term nearest to matching the node; None if one matches, or there are none."""
    affinity = trial.pod.spec.affinity.node_affinity if trial.pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return nearest_term(required.node_selector_terms, node) if required is not None else None


def nearest_term(terms: Iterable[NodeSelectorTerm], node: Node) -> NodeSelectorTerm | None:
    """Return the term with the fewest expressions that the node does not meet; None if one is met."""
    terms = [term for term in terms if term != NodeSelectorTerm()]
    if any(compile_term(term).matches(node.metadata.labels, node.name) for term in terms):
        return None
    return min(terms, key=lambda term: len(_unmet(term, node)), default=NodeSelectorTerm())


def _unmet(term: NodeSelectorTerm, node: Node) -> list[NodeSelectorRequirement]:
    """Return the expressions of a term that the node does not meet; each is tried on its own."""
    alone = [NodeSelectorTerm(match_expressions=(each,)) for each in term.match_expressions]
    alone += [NodeSelectorTerm(match_fields=(each,)) for each in term.match_fields]
    written = (*term.match_expressions, *term.match_fields)
    pairs = zip(written, alone, strict=True)
    return [each for each, only in pairs if not compile_term(only).matches(node.metadata.labels, node.name)]


def _terms(trial: Trial, term: NodeSelectorTerm | None, node: Node) -> Iterator[Step]:
    if term is None:
        return
    # a requirement may occur twice
    unmet = list(dict.fromkeys(_unmet(term, node)))
    if not unmet:
        yield _without_affinity(trial)
        return
    relaxed = [_relaxed(each, node) for each in unmet]
    whole = len({*term.match_expressions, *term.match_fields})
    if relaxed.count(None) == whole:
        # a term without expressions would match no node
        yield _without_affinity(trial)
        return
    for old, new in zip(unmet, relaxed, strict=True):
        size = 1.0 if new is None else 0.5
        yield pod_step(trial, f"affinity {old.key}", _sentence(old, new), _rewritten(term, old, new), size)


def _relaxed(each: NodeSelectorRequirement, node: Node) -> NodeSelectorRequirement | None:
    """Return a weaker expression that the node meets, None if there is none."""
    return next((option for option in _weaker(each, node) if _is_met(option, node)), None)


def _weaker(each: NodeSelectorRequirement, node: Node) -> Iterator[NodeSelectorRequirement]:
    """Yield expressions that demand less; one of several values may be invalid."""
    values = each.values or ()
    by_name = each.key == NAME_FIELD
    value = node.name if by_name else node.metadata.labels.get(each.key)
    if each.operator == "In" and value is not None:
        if not by_name:
            yield NodeSelectorRequirement(key=each.key, operator="In", values=(*values, value))
        yield NodeSelectorRequirement(key=each.key, operator="In", values=(value,))
    left = tuple(other for other in values if other != value)
    if each.operator == "NotIn" and left:
        yield NodeSelectorRequirement(key=each.key, operator="NotIn", values=left)


def _is_met(each: NodeSelectorRequirement, node: Node) -> bool:
    by_name = each.key == NAME_FIELD
    term = NodeSelectorTerm(match_fields=(each,)) if by_name else NodeSelectorTerm(match_expressions=(each,))
    return compile_term(term).matches(node.metadata.labels, node.name)


def _sentence(old: NodeSelectorRequirement, new: NodeSelectorRequirement | None) -> str:
    if new is None:
        return f"remove {_text(old)} from the required node affinity"
    return f"change {_text(old)} in the required node affinity to {_text(new)}"


def _text(each: NodeSelectorRequirement) -> str:
    values = f" [{', '.join(each.values)}]" if each.values else ""
    return f"{each.key} {each.operator}{values}"


def _rewritten(term: NodeSelectorTerm, old: NodeSelectorRequirement, new: NodeSelectorRequirement | None) -> Edit:
    """Return the edit of every occurrence of an expression in a term; an earlier step may have edited another one."""
    keys = [expression.key for expression in (*term.match_expressions, *term.match_fields)]
    before = to_builtins(old)

    def edit(document: Document) -> None:
        required = field(document, "spec", "affinity", "nodeAffinity").get(REQUIRED, {})
        for each in required.get("nodeSelectorTerms", ()):
            for part in ("matchExpressions", "matchFields"):
                found: list[Document] = each.get(part, [])
                there = [e.get("key", "") for p in ("matchExpressions", "matchFields") for e in each.get(p, ())]
                if before in found and set(there) <= set(keys):
                    others = [] if new is None else [to_builtins(new)]
                    left = [kept for e in found for kept in (others if e == before else [e])]
                    each[part] = left
                    if not left:
                        del each[part]
                    return

    return edit


def _without_affinity(trial: Trial, part: str = REQUIRED) -> Step:
    def edit(document: Document) -> None:
        affinity = document.get("spec", {}).get("affinity", {})
        affinity.get("nodeAffinity", {}).pop(part, None)

    word = "required" if part == REQUIRED else "preferred"
    return pod_step(trial, f"{word} affinity", f"remove the {word} node affinity", edit, 2.0)


# -- of the node


def labels_for(
    term: NodeSelectorTerm | None, node: Node, wanted: dict[str, str | None] | None = None
) -> dict[str, str | None] | None:
    """Return the labels with which the node matches a term, in addition to `wanted`; None if labels do not help."""
    wanted = dict(wanted or {})
    for each in _unmet(term, node) if term is not None else ():
        values = each.values or ()
        if each.key == NAME_FIELD:
            return None
        if each.operator == "In" and values:
            wanted[each.key] = values[0]
        elif each.operator == "Exists":
            wanted[each.key] = "true"
        elif each.operator in ("Gt", "Lt") and values and (bound := parse_int64(values[0])) is not None:
            wanted[each.key] = str(bound + (1 if each.operator == "Gt" else -1))
        elif each.operator in ("NotIn", "DoesNotExist"):
            wanted[each.key] = None
        else:
            return None
    allowed = all(may_label(node, key) and not label_value_problems(value or "") for key, value in wanted.items())
    return wanted if wanted and allowed else None
