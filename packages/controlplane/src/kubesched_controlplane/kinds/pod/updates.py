"""Validation of changes to a pod, whose spec is mostly immutable.

From an old and a new pod, both with defaults, to problems. These fields may change: images; the active deadline (only
lower); tolerations (only additions); scheduling gates (only removals); and of a pod that was gated, node selector and
node affinity (only stricter).
"""

# upstream: pkg/apis/core/validation/validation.go (ValidatePodUpdate) (v1.36)

from collections.abc import Sequence
from copy import deepcopy
from difflib import unified_diff
from json import dumps
from typing import Any, Final

from kubesched.api.field_errors import as_json, forbidden, invalid, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.pod.containers import image_space_problems
from kubesched_controlplane.kinds.pod.placement import MIRROR_POD, tolerations_problems
from kubesched_controlplane.kinds.pod.validation import MOST_INT32

_UPDATABLE: Final = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def change_problems(new: Document, old: Document) -> list[str]:
    """Return the problems of a change of a pod, without the problems of the new pod itself."""
    problems = annotation_change_problems(new, old)
    spec, before = new["spec"], old["spec"]
    for field in ("containers", "initContainers"):
        found, final = _containers_problems(f"spec.{field}", spec.get(field) or (), before.get(field) or ())
        problems += found
        if final:
            return problems
    found, final = _deadline_problems(spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds"))
    problems += found
    if final:
        return problems
    problems += _tolerations_problems(spec.get("tolerations") or (), before.get("tolerations") or ())
    problems += _gates_problems(spec.get("schedulingGates") or (), before.get("schedulingGates") or ())
    if spec == before:
        return problems
    return problems + _rest_problems(spec, before)


def annotation_change_problems(new: Document, old: Document) -> list[str]:
    """Return the problem of a change of the mirror pod annotation."""
    after = (new["metadata"].get("annotations") or {}).get(MIRROR_POD)
    before = (old["metadata"].get("annotations") or {}).get(MIRROR_POD)
    if after == before:
        return []
    what = "add" if before is None else "remove or update"
    return [forbidden(f"metadata.annotations[{MIRROR_POD}]", f"may not {what} mirror pod annotation")]


def _containers_problems(path: str, new: Sequence[Document], old: Sequence[Document]) -> tuple[list[str], bool]:
    """Return the problems of changed containers, and whether validation ends with them."""
    if len(new) != len(old):
        return [forbidden(path, "pod updates may not add or remove containers")], True
    problems = []
    for number, container in enumerate(new):
        here = f"{path}[{number}]"
        if not container.get("image"):
            problems.append(required(f"{here}.image"))
        problems += image_space_problems(here, container)
    return problems, False


def _deadline_problems(new: int | None, old: int | None) -> tuple[list[str], bool]:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        why = "must not update from a positive integer to nil value"
        return ([] if old is None else [invalid(path, None, why)]), False
    if not 0 <= new <= MOST_INT32:
        return [invalid(path, new, f"must be between 0 and {MOST_INT32}, inclusive")], True
    if old is not None and old < new:
        return [invalid(path, new, "must be less than or equal to previous value")], True
    return [], False


def _tolerations_problems(new: Sequence[Document], old: Sequence[Document]) -> list[str]:
    def lasting(toleration: Document) -> Document:
        return {field: value for field, value in toleration.items() if value and field != "tolerationSeconds"}

    kept = [lasting(toleration) for toleration in new]
    if any(lasting(toleration) not in kept for toleration in old):
        why = "existing toleration can not be modified except its tolerationSeconds"
        return [forbidden("spec.tolerations", why)]
    return tolerations_problems("spec.tolerations", new)


def _gates_problems(new: Sequence[Document], old: Sequence[Document]) -> list[str]:
    known = {gate.get("name") for gate in old}
    return [
        forbidden(
            f"spec.schedulingGates[{number}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name') or ''}'",
        )
        for number, gate in enumerate(new)
        if gate.get("name") not in known
    ]


def _rest_problems(spec: Document, before: Document) -> list[str]:
    """Return the problems of changes of all other fields."""
    problems = []
    # The fields that may change are reset to their old values; then nothing else may differ.
    undone = deepcopy(spec)
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _put_back(undone, before, field)
    for field in ("containers", "initContainers"):
        for container, was in zip(undone.get(field) or (), before.get(field) or (), strict=True):
            _put_back(container, was, "image")
    if before.get("terminationGracePeriodSeconds", 0) < 0 and undone.get("terminationGracePeriodSeconds") == 1:
        _put_back(undone, before, "terminationGracePeriodSeconds")
    if before.get("schedulingGates"):
        problems += _gated_problems(undone, before)
    if undone != before:
        # without the first two lines, the names of files
        diff = "".join([*unified_diff(_lines(before), _lines(undone))][2:])
        diff = diff if diff.endswith("\n") else f"{diff}\n"
        problems.append(forbidden("spec", f"pod updates may not change fields other than {_UPDATABLE}\n{diff}"))
    return problems


def _gated_problems(undone: Document, before: Document) -> list[str]:
    """Return the problems of a changed node selector or node affinity of a gated pod; reset both in `undone`."""
    problems = []
    selector, old_selector = undone.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(selector.get(key) != value for key, value in old_selector.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        problems.append(invalid("spec.nodeSelector", as_json(selector), why))
    _put_back(undone, before, "nodeSelector")
    affinity, old_affinity = undone.get("affinity") or {}, before.get("affinity") or {}
    nodes, old_nodes = affinity.get("nodeAffinity"), old_affinity.get("nodeAffinity")
    if nodes != old_nodes:
        problems += _node_affinity_problems(nodes or {}, old_nodes or {})
        _put_back(affinity, old_affinity, "nodeAffinity")
        undone["affinity"] = affinity
        if not affinity:
            _put_back(undone, before, "affinity")
    return problems


def _node_affinity_problems(new: Document, old: Document) -> list[str]:
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    terms = (new.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    old_terms = (old.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    if not old_terms:
        return []
    if len(terms) != len(old_terms):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(path, as_json(terms), why)]
    why = "only additions are allowed (no mutations or deletions)"
    return [
        invalid(f"{path}[{number}]", as_json(term), why)
        for number, (term, was) in enumerate(zip(terms, old_terms, strict=True))
        if not _only_adds(term, was)
    ]


def _only_adds(term: Document, was: Document) -> bool:
    parts = [(term.get(field) or [], was.get(field) or []) for field in ("matchExpressions", "matchFields")]
    # an empty term selects no node; an addition would make it select some
    if not any(old for _, old in parts) and any(new for new, _ in parts):
        return False
    return all(new[: len(old)] == old for new, old in parts)


def _put_back(holder: Document, before: Document, field: str) -> None:
    if field in before:
        holder[field] = before[field]
    else:
        holder.pop(field, None)


def _lines(value: Any) -> list[str]:
    return dumps(value, indent=1, sort_keys=True).splitlines(keepends=True)
