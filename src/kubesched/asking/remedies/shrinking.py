"""Shrinking: from steps that help to a smallest set of them.

Each step is left out in turn; one without which the pod still gets a node is dropped. So are all steps of one object.
Numbers that can be smaller are made so.
"""

from collections.abc import Iterator

from kubesched.asking.remedies.steps import Steps
from kubesched.asking.remedies.trials import Trials

# a number that is tuned is doubled so often at most
MOST_DOUBLINGS = 20


def shrunk(trials: Trials, steps: Steps) -> Steps:
    """Return a smallest part of steps that help."""
    fewer: Steps | None = steps
    while fewer is not None:
        steps = fewer
        fewer = next((part for part in _parts(steps) if trials.node_after(part)), None)
    for step in steps:
        if step.tuned is not None:
            steps = _tuned(trials, steps, steps.index(step))
    return steps


def _parts(steps: Steps) -> Iterator[Steps]:
    """Yield the steps without one of them, the largest first, and without those of one object."""
    if len(steps) < 2:
        return
    for left_out in sorted(steps, key=lambda step: (-step.scope, -step.size)):
        yield tuple(step for step in steps if step is not left_out)
    for name in dict.fromkeys(step.object for step in steps):
        part = tuple(step for step in steps if step.object != name)
        if part and len(part) < len(steps) - 1:
            yield part


def _tuned(trials: Trials, steps: Steps, index: int) -> Steps:
    """Return the steps with the smallest number for one of them that works."""
    make, least = steps[index].tuned, steps[index].least
    assert make is not None, "the step has a number"

    def with_number(number: int) -> Steps:
        return (*steps[:index], make(number), *steps[index + 1 :])

    grown = (1 << doubling for doubling in range(MOST_DOUBLINGS))
    works = next((least + more for more in grown if trials.node_after(with_number(least + more))), None)
    if works is None:
        return steps
    fails = least + (works - least) // 2
    while works - fails > 1:
        middle = (works + fails) // 2
        if trials.node_after(with_number(middle)):
            works = middle
        else:
            fails = middle
    return with_number(works)
