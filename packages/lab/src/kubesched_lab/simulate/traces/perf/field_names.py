"""Field names as Kubernetes writes them.

From a document to one whose fields begin with a lower-case letter: the reference decodes templates without regard to
case, and one of its templates has `NodeAffinityPolicy`. Keys of labels, amounts and other maps stay as they are.
"""

from typing import Any

# fields whose keys are free names
_MAPS = frozenset(
    {
        "allocatable",
        "annotations",
        "attributes",
        "capacity",
        "counters",
        "data",
        "labels",
        "limits",
        "matchLabels",
        "nodeSelector",
        "parameters",
        "requests",
        "stringData",
    }
)


def with_field_names(value: Any) -> Any:
    """Return a document whose fields begin with a lower-case letter."""
    if isinstance(value, dict):
        return {
            _small(key): each if key in _MAPS or _is_selector(key, each) else with_field_names(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [with_field_names(each) for each in value]
    return value


def _is_selector(key: str, value: Any) -> bool:
    """Return whether a value is the selector of a Service: a map of labels."""
    return key == "selector" and isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _small(key: str) -> str:
    return key[:1].lower() + key[1:]
