"""Descriptions of types and fields, which `kubectl explain` shows.

From a type, or one of its fields, to a text. Types and fields that explain themselves, or are rarely looked up, have
none. Texts are in `texts`, one module for the parts of pods and one for everything else.
"""

import re
from functools import cache

from kubesched_controlplane.representation.openapi.texts import objects, pods

# fields with the same description in all types
_COMMON = {
    "apiVersion": "APIVersion defines the versioned schema of the object: the group and version it is written in.",
    "kind": "The kind of object that this is.",
    "metadata": "Standard object's metadata: its name, labels and whatever else every object has.",
    "spec": "What is wanted of the object.",
    "status": "How the object is doing, as last seen. It is written by the system.",
    "conditions": "What is true of the object right now, each condition by its type.",
    "observedGeneration": "The generation of the object that this was written for.",
    "lastTransitionTime": "When the condition last went from one status to another.",
    "reason": "Why it is so, in one word.",
    "message": "Why it is so, for people to read.",
}


@cache
def _texts() -> dict[str, str]:
    found = {}
    for text in (pods.TEXTS, objects.TEXTS):
        for line in re.sub(r"\n +", " ", text).strip().splitlines():
            key, _, words = line.partition(": ")
            found[key] = words
    return found


def description_of(type_name: str, field: str = "") -> str:
    """Return the description of a type or of one of its fields, an empty text if there is none."""
    if not field:
        return _texts().get(type_name, "")
    return _texts().get(f"{type_name}.{field}") or _COMMON.get(field, "")
