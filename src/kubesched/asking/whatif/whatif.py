"""What if: operations on a cluster, one after the other, then everything pending is scheduled.

From a model and operations to a `WhatIfAnswer`, the differences against the present. The model is as before afterwards.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from kubesched.asking.model import ClusterModel
from kubesched.asking.whatif.measures import Meter, spread_changes
from kubesched.asking.whatif.operations import AddNodes, Operation, TaintNodes
from kubesched.asking.whatif.trial import WhatIfTrial
from kubesched.asking.whatif.whatif_answer import (
    BECOMES_BOUND,
    BECOMES_PENDING,
    DELETED,
    LOST,
    MOVES,
    NEW,
    NEW_PENDING,
    STAYS,
    STAYS_PENDING,
    WITHOUT_PLACE,
    PodChange,
    WhatIfAnswer,
    WhatIfStep,
)

# the words of a summary, in their order
_WORDS = {
    MOVES: ("moves", "move"),
    BECOMES_BOUND: ("becomes bound", "become bound"),
    NEW: ("is new", "are new"),
    NEW_PENDING: ("is new and stays pending", "are new and stay pending"),
    STAYS_PENDING: ("stays pending", "stay pending"),
    BECOMES_PENDING: ("becomes pending", "become pending"),
    DELETED: ("is deleted", "are deleted"),
    LOST: ("is lost", "are lost"),
    STAYS: ("stays", "stay"),
}


def whatif(model: ClusterModel, operations: Sequence[Operation], *, disposable: bool = False) -> WhatIfAnswer:
    """Return what becomes of the cluster after operations; raises UnknownObjectError and other KubeschedErrors.

    A model that is `disposable` is not as before: nobody asks it anything afterwards.
    """
    with trial_of(model, disposable=disposable) as trial:
        meter = Meter(model, trial.owners)
        before, zones_before = meter.measure(), meter.zones_of_owners
        steps = apply_all(trial, operations)
        trial.settle()
        changes, counts = trial.changes()
        after = meter.measure()
        spread = spread_changes(zones_before, meter.zones_of_owners)
        counted = trial.asked_for if operations and not all(map(_makes_room, operations)) else None
    fits = not any(lacks_place(each, counted) for each in changes) and not any(step.held_up for step in steps)
    summary = _summary(counts, steps)
    return WhatIfAnswer(fits, summary, steps, dict(counts), tuple(changes), before, after, spread, model.gaps)


def apply_all(trial: WhatIfTrial, operations: Sequence[Operation]) -> tuple[WhatIfStep, ...]:
    """Try operations, one after the other."""
    steps = []
    for operation in operations:
        trial.forget_failures()
        steps.append(operation.apply(trial))
    return tuple(steps)


@contextmanager
def trial_of(model: ClusterModel, *, preempts: bool = True, disposable: bool = False) -> Iterator[WhatIfTrial]:
    """Try something on a model; at the end everything is as before, unless the model is `disposable`.

    Without `preempts`, PostFilter does not run.
    """
    trial = WhatIfTrial(model, preempts=preempts)
    try:
        yield trial
    finally:
        if not disposable:
            trial.close()


def lacks_place(change: PodChange, counted: Collection[str] | None) -> bool:
    """Return whether a pod has no place though it should have one.

    Of the pods that are pending as before, those in `counted` should; without it, all.
    """
    if change.held or change.change not in WITHOUT_PLACE:
        return False
    return change.change != STAYS_PENDING or counted is None or change.pod in counted


def _makes_room(operation: Operation) -> bool:
    """Return whether an operation has no other aim than places for pods that are pending."""
    return isinstance(operation, AddNodes) or (isinstance(operation, TaintNodes) and operation.remove)


def _summary(counts: dict[str, int], steps: Sequence[WhatIfStep]) -> str:
    parts = [f"{number} {words[number != 1]}" for kind, words in _WORDS.items() if (number := counts.get(kind, 0))]
    held_up = sum(len(step.held_up) for step in steps)
    total = sum(counts.values())
    text = f"Of {total} pods {', '.join(parts)}." if parts else "There are no pods."
    pods = "pod" if held_up == 1 else "pods"
    return f"{text} Budgets hold up {held_up} {pods} of the drain." if held_up else text
