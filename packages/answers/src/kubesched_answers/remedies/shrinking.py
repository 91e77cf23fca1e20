"""Shrinking: from steps that help to a smallest set of them.

Each step is left out in turn; it is dropped if the pod still gets a node. The same is tried with all steps of one
object. Numbers are reduced as far as possible.
"""

from collections.abc import Iterator

from kubesched_answers.remedies.steps import Steps
from kubesched_answers.remedies.trials import Trials


def shrunk(trials: Trials, steps: Steps) -> Steps:
    """Return a smallest subset of steps that helps."""
    fewer: Steps | None = steps
    while fewer is not None:
        steps = fewer
        fewer = next((part for part in _parts(steps) if trials.node_after(part)), None)
    for index in range(len(steps)):
        if steps[index].tuned is not None:
            steps = _tuned(trials, steps, index)
    return steps


def _parts(steps: Steps) -> Iterator[Steps]:
    """Yield the steps without one of them, the largest first, and without all steps of one object."""
    if len(steps) < 2:
        return
    for left_out in sorted(steps, key=lambda step: (-step.scope, -step.size)):
        yield tuple(step for step in steps if step is not left_out)
    for name in dict.fromkeys(step.object for step in steps):
        part = tuple(step for step in steps if step.object != name)
        if part and len(part) < len(steps) - 1:
            yield part


def _tuned(trials: Trials, steps: Steps, index: int) -> Steps:
    """Return the steps with the smallest number that works for one of them, searched from below."""
    step = steps[index]
    make = step.tuned
    assert make is not None, "the step has a number"

    def with_number(number: int) -> Steps:
        other = make(number)
        return (*steps[:index], other, *steps[index + 1 :]) if other is not None else ()

    def works(number: int) -> bool:
        changed = with_number(number)
        return bool(changed) and bool(trials.node_after(changed))

    if step.number - 1 <= step.least or not works(step.number - 1):
        return steps
    fails, enough, more = step.least, step.number - 1, 1
    while step.least + more < enough:
        if works(step.least + more):
            enough = step.least + more
        else:
            fails = step.least + more
            more *= 2
    while enough - fails > 1:
        middle = (enough + fails) // 2
        if works(middle):
            enough = middle
        else:
            fails = middle
    return with_number(enough)
