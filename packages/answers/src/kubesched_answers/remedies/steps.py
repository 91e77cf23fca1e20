"""Steps: single changes of objects, of which remedies consist.

From proposers to trials. A step edits the document of one object, creates an object or deletes one. An edit finds its
field by value, so a step has the same meaning after other steps, and in the template of a controller as in the pod.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched_answers.remedies.patches import patch_of

Document = dict[str, Any]
Edit = Callable[[Document], None]


class Rank(IntEnum):
    """The order in which an operator would try steps; a remedy has the last rank of its steps."""

    UNCORDON = 0
    FREE_GATE = 1
    FIX_CLAIM = 2
    ADD_NODE = 3
    CHANGE_POD = 4
    CHANGE_NODE = 5
    DISTURB_OTHERS = 6
    GIVE_UP_CLAIM = 7
    LOSE_DATA = 8


class Scope(IntEnum):
    """The objects that a step changes, the least intrusive first."""

    POD = 0
    CLUSTER = 1
    OTHERS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One change of one object, in a sentence without a subject: "remove taint a=b:NoSchedule from node n".

    Remedies with the same `topics` are of one kind, of which the smallest is shown; `rank` is the operator's
    preference, `size` orders equal ones. `tuned` makes the step for a number above `least`, up to its present
    `number`; the search looks for the smallest that works. `preempts`: the pod gets its node by preempting other
    pods.

    `command` is kubectl's own command for the change, if it is better than a patch. `sent` is the object to create if
    controllers complete it to `create`. A step that is `outside` is no request to the API server: a node that joins,
    a kubelet's configuration, an object that a provisioner creates.
    """

    object: ObjectName
    summary: str
    scope: Scope
    topic: str
    size: float = 0.0
    edit: Edit | None = None
    create: Mapping[str, Any] | None = None
    delete: bool = False
    tuned: "Callable[[int], Step | None] | None" = None
    least: int = 0
    number: int = 0
    preempts: bool = False
    rank: Rank = Rank.CHANGE_POD
    command: tuple[str, ...] = ()
    sent: Mapping[str, Any] | None = None
    outside: bool = False

    @property
    def key(self) -> tuple[ObjectName, str]:
        """Return the identity of the step; its number may be rounded in the summary."""
        return self.object, f"{self.summary} ({self.number})"


Steps = tuple[Step, ...]
Find = Callable[[ObjectName], ApiObject | None]


def changes_of(steps: Iterable[Step], find: Find) -> tuple[ObjectChange, ...]:
    """Return the combined changes of steps, one for each object."""
    changes: dict[ObjectName, ObjectChange] = {}
    edited: dict[ObjectName, tuple[Document, Document]] = {}
    for step in steps:
        if step.delete:
            changes[step.object] = ObjectChange(step.object, delete=True)
        elif step.create is not None:
            changes[step.object] = ObjectChange(step.object, create=step.create)
        elif step.edit is not None:
            if step.object not in edited:
                found = find(step.object)
                if found is None:
                    continue
                document = to_builtins(found)
                edited[step.object] = document, copy.deepcopy(document)
                # keeps the place of the object among the changes
                changes.setdefault(step.object, ObjectChange(step.object, patch=()))
            step.edit(edited[step.object][1])
    for name, (old, new) in edited.items():
        changes[name] = ObjectChange(name, patch=tuple(patch_of(old, new)))
    return tuple(change for change in changes.values() if change.patch != ())
