"""The kubectl commands of a remedy.

From its requests and their steps to lines for a shell. For an object that is created again, the commands read, patch
and replace it, so fields that the model leaves out stay.
"""

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from kubesched.reports.answers import ObjectChange, ObjectName, plain
from kubesched_answers.remedies.patches import Operation
from kubesched_answers.remedies.steps import Step, Steps

_STATUS = "/status/"


def commands_of(requests: Sequence[ObjectChange], steps: Steps) -> tuple[str, ...]:
    """Return the commands of requests, in their order, preceded by commands of steps that only refer to an object."""
    by_object: dict[ObjectName, list[Step]] = {}
    for step in steps:
        by_object.setdefault(step.object, []).append(step)
    pointing = [step.command for step in steps if step.outside and step.command]
    found = [shlex.join(words) for words in pointing]
    for request in requests:
        found += _commands(request, by_object.get(request.object, ()))
    return tuple(dict.fromkeys(found))


def _commands(request: ObjectChange, steps: Sequence[Step]) -> Iterator[str]:
    if steps and all(step.command for step in steps):
        yield from (shlex.join(step.command) for step in steps)
        return
    about = request.object
    where = ["-n", about.namespace] if about.namespace else []
    target = [*where, about.kind.lower(), about.name]
    if request.create is not None:
        yield f"printf %s {shlex.quote(_json(request.create))} | kubectl create -f -"
    elif request.delete:
        yield shlex.join(["kubectl", "delete", *target])
    elif request.recreate:
        patch = ["kubectl", "patch", "--local", "-f", "-", "--type=json", "-p", _json(request.patch), "-o", "json"]
        read = shlex.join(["kubectl", "get", *target, "-o", "json"])
        yield f"{read} | {shlex.join(patch)} | kubectl replace --force -f -"
    else:
        of_status = [each for each in request.patch or () if each["path"].startswith(_STATUS)]
        others = [each for each in request.patch or () if each not in of_status]
        yield from _patches(target, others, [])
        yield from _patches(target, of_status, ["--subresource=status"])


def _patches(target: Sequence[str], operations: Sequence[Operation], options: Sequence[str]) -> Iterator[str]:
    if operations:
        yield shlex.join(["kubectl", "patch", *target, *options, "--type=json", "-p", _json(operations)])


def _json(value: object) -> str:
    return msgspec.json.encode(plain(value)).decode()
