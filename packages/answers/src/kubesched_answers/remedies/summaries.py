"""The sentence of a remedy.

From its steps to one sentence; pods that are evicted from one node are listed together.
"""

import re
from collections.abc import Sequence

from kubesched.reports.answers import ObjectName
from kubesched_answers.remedies.steps import Scope, Step, Steps

MOST_NAMED = 5
NO_REMOVAL = ("", "")
NEW_NODE = "add a node "
_OFF_NODE = re.compile(r"(move|evict) pod \S+ from node (\S+)")


def summary_of(steps: Steps, own: ObjectName) -> str:
    """Return what a remedy does, in one sentence without a full stop; `own` is its pod."""
    off_nodes: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        off_nodes.setdefault(_removal(step), []).append(step)
    others: dict[str, list[Step]] = {}
    for step in off_nodes.pop(NO_REMOVAL, ()):
        others.setdefault(step.summary, []).append(step)
    texts = [_of_several(alike, own) for alike in others.values()]
    texts += [_together(verb, node, removed) for (verb, node), removed in off_nodes.items()]
    return "; ".join(texts)


def _of_several(steps: Sequence[Step], own: ObjectName) -> str:
    """Return the common text of several steps: new nodes, or pods of a group."""
    count, text, first = len({step.object for step in steps}), steps[0].summary, steps[0].object
    if text.startswith(NEW_NODE):
        return text.replace(NEW_NODE, f"add {count} nodes ", 1) if count > 1 else text
    if steps[0].scope is not Scope.POD or (count == 1 and first == own):
        return text
    return f"{text} of pod {first.namespace}/{first.name}" if count == 1 else f"{text} of {count} pods of the group"


def preempting_summary(summary: str, node: str, victims: Sequence[str]) -> str:
    """Return the sentence of a remedy after which the pod preempts other pods."""
    pods = f"pod {victims[0]}" if len(victims) == 1 else f"{len(victims)} pods"
    return f"{summary}, which preempts {pods} on {node}{f': {_listed(victims)}' if len(victims) > 1 else ''}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _removal(step: Step) -> tuple[str, str]:
    """Return the verb and the node of a pod that is moved or evicted."""
    found = _OFF_NODE.match(step.summary) if step.delete else None
    return (found[1], found[2]) if found is not None else NO_REMOVAL


def _together(verb: str, node: str, steps: Sequence[Step]) -> str:
    if len(steps) == 1:
        return steps[0].summary
    names = [f"{step.object.namespace}/{step.object.name}" for step in steps]
    end = " to other nodes" if verb == "move" else ""
    return f"{verb} {len(names)} pods from node {node}{end}: {_listed(names)}"
