"""Validation of object metadata that several packages share: annotations, and the message for immutable fields."""

from collections.abc import Mapping

from kubesched.api.field_errors import invalid
from kubesched.api.labels import label_key_problems

MOST_ANNOTATION_BYTES = 256 * 1024
IMMUTABLE = "field is immutable"
# finalizers that the garbage collector removes
ORPHANS, FIRST_DEPENDENTS = "orphan", "foregroundDeletion"
STANDARD_FINALIZERS = ("kubernetes", ORPHANS, FIRST_DEPENDENTS)


def qualification_problems(path: str, finalizer: str) -> list[str]:
    """Return the problem of a finalizer that is no standard one and has no domain before it."""
    if "/" in finalizer or finalizer in STANDARD_FINALIZERS:
        return []
    return [invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")]


def annotations_problems(path: str, annotations: Mapping[str, str] | None) -> list[str]:
    """Return the problems of annotations."""
    problems = []
    for key in annotations or ():
        problems += [invalid(path, key, problem) for problem in label_key_problems(key.lower())]
    if sum(len(key) + len(value) for key, value in (annotations or {}).items()) > MOST_ANNOTATION_BYTES:
        problems.append(f"{path}: Too long: may not be more than {MOST_ANNOTATION_BYTES} bytes")
    return problems
