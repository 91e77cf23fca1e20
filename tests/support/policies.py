"""Scheduler policies of v1.21 in a few words, as texts.

In: names, weights and arguments. Out: entries of a policy as plain values, and the policy as JSON.
"""

import json
from typing import Any

_RISING = ({"utilization": 0, "score": 0}, {"utilization": 100, "score": 10})


def a_policy(**fields: Any) -> str:
    """Return a policy with these fields."""
    return json.dumps({"kind": "Policy", "apiVersion": "v1", **fields})


def named(*names: str) -> list[dict[str, Any]]:
    """Return predicates of these names."""
    return [{"name": name} for name in names]


def weighted(**weights: int) -> list[dict[str, Any]]:
    """Return priorities with these weights."""
    return [{"name": name, "weight": weight} for name, weight in weights.items()]


def labelled(name: str, *labels: str, presence: bool = True) -> dict[str, Any]:
    """Return a predicate that wants these labels on nodes, or wants them not."""
    return {"name": name, "argument": {"labelsPresence": {"labels": labels, "presence": presence}}}


def by_ratio(name: str = "RequestedToCapacityRatioPriority", weight: int = 1, **arguments: Any) -> dict[str, Any]:
    """Return a priority by the use of resources; its shape prefers full nodes unless another one is given."""
    ratio = {"shape": _RISING, **arguments}
    return {"name": name, "weight": weight, "argument": {"requestedToCapacityRatioArguments": ratio}}
