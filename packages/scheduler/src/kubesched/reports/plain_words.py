"""The reasons of plugins in plain words.

From a reason ("node(s) had untolerated taint(s)") to a phrase about nodes ("have a taint that it does not tolerate"),
and to a sentence with counts. A reason without plain words keeps the plugin's text.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_CLAIM_IN_USE: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
# what nodes do, in the plural
_WORDS: Final = {
    "Too many pods": "have no room for another pod",
    "node(s) were unschedulable": "are cordoned",
    "node(s) had untolerated taint(s)": "have a taint that it does not tolerate",
    "node(s) didn't match Pod's node affinity/selector": "do not match its node selector or node affinity",
    "node(s) didn't match scheduler-enforced node affinity": "do not match the node affinity of the profile",
    "node(s) didn't match the requested node name": "are not the node that it names",
    "node(s) didn't have free ports for the requested pod ports": "have one of its host ports taken",
    "node(s) didn't match pod affinity rules": "do not match its pod affinity",
    "node(s) didn't match pod anti-affinity rules": "have pods that its anti-affinity forbids beside it",
    "node(s) didn't satisfy existing pods anti-affinity rules": "have pods whose anti-affinity forbids it",
    "node(s) didn't match pod topology spread constraints": "would break its topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)": (
        "lack the label of a topology spread constraint"
    ),
    "node(s) didn't match PersistentVolume's node affinity": "are out of reach of its volume",
    "node(s) had no available volume zone": "are in another zone than its volume",
    "node(s) didn't find available persistent volumes to bind": "have no volume for its claim",
    "node(s) did not have enough free storage": "have too little storage for its claim",
    "node(s) exceed max volume count": "have as many volumes attached as they may",
    "node(s) had no available disk": "have its disk in use by another pod",
    _CLAIM_IN_USE: "cannot share its claim, which is ReadWriteOncePod and in use",
    "cannot allocate all claims": "lack devices for its claims",
    "resourceclaim not available on the node": "are out of reach of its allocated claim",
    "node(s) didn't match Pod's required features": "lack a feature that it needs",
}
# problems of a pod on all nodes, by a pattern of PreFilter's message
_OF_PODS: Final = (
    (re.compile(r'persistentvolumeclaim "(.+)" not found'), r"claim \1 does not exist"),
    (re.compile(r"pod has unbound immediate PersistentVolumeClaims"), "a claim of it is not bound to a volume yet"),
    (re.compile(r"PersistentVolume had no name"), "a claim of it is not bound to a volume yet"),
)
_SINGULAR: Final = {"have": "has", "are": "is", "do": "does", "lack": "lacks"}
INSUFFICIENT: Final = "Insufficient "
_NODES: Final = "node(s) "


def said_of_nodes(reason: str) -> str | None:
    """Return the phrase about nodes for a reason, in the plural; None if there are no plain words for it."""
    if reason.startswith(INSUFFICIENT):
        return f"lack {reason.removeprefix(INSUFFICIENT)}"
    return _WORDS.get(reason)


def said_of_node(reason: str) -> str:
    """Return the phrase about one node for a reason."""
    return _singular(said_of_nodes(reason) or reason.removeprefix(_NODES))


def said_of_pod(message: str) -> str:
    """Return a plugin's message about a pod on all nodes, in plain words if there are any."""
    for pattern, words in _OF_PODS:
        if found := pattern.fullmatch(message):
            return found.expand(words)
    return message


def counted(reasons: Iterable[tuple[str, int]]) -> str:
    """Return reasons with their numbers of nodes, most first: `3 lack cpu, 1 is cordoned`."""
    nodes: Counter[str] = Counter()
    for reason, count in reasons:
        nodes[reason] += count
    return ", ".join(_counted(reason, count) for reason, count in nodes.most_common())


def _counted(reason: str, count: int) -> str:
    words = said_of_nodes(reason)
    if words is None:
        return f'{count} with "{reason}"'
    return f"{count} {_singular(words) if count == 1 else words}"


def _singular(words: str) -> str:
    verb, space, rest = words.partition(" ")
    return _SINGULAR.get(verb, verb) + space + rest


def number(count: int, noun: str) -> str:
    """Return a number with its noun: `1 node`, `1,200 nodes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
