"""InterPodAffinity: remove terms, add labels that make a term match, evict conflicting pods.

From the violated rule to steps on the pod, on the node or a namespace, and on other pods.
"""

from collections.abc import Iterator
from dataclasses import replace

from kubesched.api.codec import to_builtins
from kubesched.api.labels import EVERYTHING
from kubesched.api.nodes import Namespace
from kubesched.api.pods import PodAffinity, PodAffinityTerm
from kubesched.core.cluster.affinity_terms import AffinityTerm
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.plugins.inter_pod_affinity.filtering import AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY
from kubesched_answers.remedies.proposers.evictions import evicting
from kubesched_answers.remedies.proposers.obstacles import (
    Obstacle,
    drop,
    field,
    labelled,
    may_label,
    object_step,
    pod_step,
)
from kubesched_answers.remedies.steps import Document, Edit, Step, Steps
from kubesched_answers.remedies.trials import Trial

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod_affinity(trial: Trial, obstacle: Obstacle) -> Iterator[Steps]:
    """Yield steps against the violated rule."""
    affinity = trial.pod.spec.affinity
    near = affinity.pod_affinity if affinity is not None else None
    apart = affinity.pod_anti_affinity if affinity is not None else None
    reasons = obstacle.status.reasons
    if obstacle.row is None:
        # an invalid selector
        yield (*_removed(trial, near, "podAffinity"), *_removed(trial, apart, "podAntiAffinity"))
        yield tuple(_without_preferences(trial, name) for name in ("podAffinity", "podAntiAffinity"))
    elif AFFINITY.reasons == reasons:
        yield tuple(_removed(trial, near, "podAffinity"))
        yield tuple(_placed_in_domain(trial, obstacle.row))
        yield tuple(_selected_namespaces(trial, obstacle.row, near))
    elif ANTI_AFFINITY.reasons == reasons:
        yield tuple(_removed(trial, apart, "podAntiAffinity"))
        terms = trial.pod.affinity.required_anti_affinity
        yield evicting(trial, [pod for term in terms for pod in _in_domain(trial, term, obstacle.row)])
    elif EXISTING_ANTI_AFFINITY.reasons == reasons:
        carriers = [pod for pod, term in trial.opponents if _shares_domain(trial, pod, term, obstacle.row)]
        yield evicting(trial, list(dict.fromkeys(carriers)))


def _removed(trial: Trial, part: PodAffinity | None, name: str) -> Iterator[Step]:
    """Yield the removal of each required term."""
    word = "affinity" if name == "podAffinity" else "anti-affinity"
    for term in part.required_during_scheduling_ignored_during_execution if part is not None else ():
        text = f"remove the required pod {word} to {_text(trial, term)}"
        yield pod_step(trial, f"pod {word}", text, _without(name, term))


def _without_preferences(trial: Trial, name: str) -> Step:
    def edit(document: Document) -> None:
        document.get("spec", {}).get("affinity", {}).get(name, {}).pop(PREFERRED, None)

    return pod_step(trial, "preferred affinity", f"remove the preferred terms of {name}", edit, 1.0)


def _text(trial: Trial, term: PodAffinityTerm) -> str:
    selector = term.label_selector
    if selector is None:
        return f"no pods in {term.topology_key}"
    labels = [f"{key}={value}" for key, value in selector.match_labels.items()]
    labels += [f"{each.key} {each.operator} {list(each.values)}" for each in selector.match_expressions]
    return f"{','.join(labels) or 'all pods'} in {term.topology_key}"


def _without(name: str, term: PodAffinityTerm) -> Edit:
    def edit(document: Document) -> None:
        drop(document, to_builtins(term), "spec", "affinity", name, REQUIRED)

    return edit


# -- domains


def _in_domain(trial: Trial, term: AffinityTerm, row: int) -> list[PodInfo]:
    """Return the placed pods that a term selects in the domain of a row."""
    return [pod for pod in trial.pods_selected_by(term) if _shares_domain(trial, pod, term, row)]


def _shares_domain(trial: Trial, pod: PodInfo, term: AffinityTerm, row: int) -> bool:
    table = trial.model.cluster.table
    other = table.nodes[table.row_of[pod.spec.node_name]] if pod.spec.node_name in table.row_of else None
    value = trial.node(row).metadata.labels.get(term.topology_key)
    return other is not None and value is not None and other.metadata.labels.get(term.topology_key) == value


def _placed_in_domain(trial: Trial, row: int) -> Iterator[Step]:
    """Yield labels that put the node into a domain with pods that the terms select."""
    node, table = trial.node(row), trial.model.cluster.table
    for key in dict.fromkeys(term.topology_key for term in trial.pod.affinity.required_affinity):
        terms = [term for term in trial.pod.affinity.required_affinity if term.topology_key == key]
        if any(_in_domain(trial, term, row) for term in terms) or not may_label(node, key):
            continue
        for pod in trial.pods_selected_by(terms[0]):
            other = table.nodes[table.row_of[pod.spec.node_name]] if pod.spec.node_name in table.row_of else None
            value = other.metadata.labels.get(key) if other is not None else None
            if value is not None:
                yield from labelled(node, {key: value})
                break


def _selected_namespaces(trial: Trial, row: int, part: PodAffinity | None) -> Iterator[Step]:
    """Yield labels that make a namespace selector select the namespace of a pod."""
    objects = trial.model.cluster.objects
    written = part.required_during_scheduling_ignored_during_execution if part is not None else ()
    for term, compiled in zip(written, trial.pod.affinity.required_affinity, strict=False):
        wanted = term.namespace_selector.match_labels if term.namespace_selector is not None else {}
        if not wanted or _in_domain(trial, compiled, row):
            continue
        anywhere = compiled._replace(namespace_selector=EVERYTHING)
        for pod in _in_domain(trial, anywhere, row):
            namespace = objects.get(Namespace, pod.namespace)
            if namespace is not None:
                yield _labelled_namespace(namespace, wanted)
                break


def _labelled_namespace(namespace: Namespace, labels: dict[str, str]) -> Step:
    missing = {key: value for key, value in labels.items() if namespace.metadata.labels.get(key) != value}
    text = ", ".join(f"{key}={value}" for key, value in missing.items())

    def edit(document: Document) -> None:
        field(document, "metadata", "labels").update(missing)

    words = [f"{key}={value}" for key, value in missing.items()]
    command = ("kubectl", "label", "namespace", namespace.name, *words, "--overwrite")
    step = object_step(namespace, "namespace label", f"add label {text} to namespace {namespace.name}", edit)
    return replace(step, command=command)
