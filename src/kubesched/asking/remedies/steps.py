"""Steps: single changes of objects, of which remedies are made.

From proposers to trials. A step edits the document of one object, creates an object or deletes one. Edits find what
they change by its value, so that a step means the same whether or not others come before it.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.asking.answers import ObjectChange, ObjectName
from kubesched.asking.remedies.patches import patch_of

Document = dict[str, Any]
Edit = Callable[[Document], None]


class Scope(IntEnum):
    """What a step changes, the least intrusive first."""

    POD = 0
    CLUSTER = 1
    OTHERS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One change of one object, in a sentence without a subject: "remove taint a=b:NoSchedule from node n".

    Remedies with the same `topics` are of one kind, of which the smallest is shown; `size` tells small from large among
    them. `tuned` makes the step for a number above `least`, up to `number`, which it has; the smallest that works is
    wanted. `preempts`: the pod gets its node by preempting others.
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

    @property
    def key(self) -> tuple[ObjectName, str]:
        """Return what tells the step from others."""
        return self.object, self.summary


Steps = tuple[Step, ...]
Find = Callable[[ObjectName], ApiObject | None]


def changes_of(steps: Iterable[Step], find: Find) -> tuple[ObjectChange, ...]:
    """Return the changes of objects that steps make together, one for each object."""
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
