"""Remedies as a list, with the commands that apply them.

From remedies to a block. Commands are kubectl's; what they cannot say (an object to create, a pod to make anew) is in
words, and in JSON as a whole.
"""

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from kubesched.asking.answers import ObjectChange, plain
from kubesched.asking.explain.plain_words import number
from kubesched.asking.remedies.remedy import Remedy
from kubesched.asking.reports.blocks import Item, Items, Tone, Toned


def remedy_items(remedies: Sequence[Remedy]) -> Items:
    """Return the remedies, numbered."""
    return Items(
        [Item(each.summary, tuple(_details(each)), tuple(_commands(each))) for each in remedies], numbered=True
    )


def _details(remedy: Remedy) -> Iterator[Toned]:
    preempted = number(len(remedy.preempts), "pod") if remedy.preempts else ""
    yield Toned(f"then it {f'preempts {preempted} and ' if preempted else ''}goes to {remedy.node}", Tone.MUTED)
    if remedy.recreate:
        yield Toned(f"the pod has to be made anew{f': change {remedy.owner}' if remedy.owner else ''}", Tone.MUTED)


def _commands(remedy: Remedy) -> Iterator[str]:
    """Return what kubectl can do of a remedy; a pod that has to be made anew cannot be patched."""
    for change in remedy.changes:
        if change.create is None and not (remedy.recreate and change.object.kind == "Pod" and not change.delete):
            yield " ".join(map(shlex.quote, _words(change)))


def _words(change: ObjectChange) -> list[str]:
    about = change.object
    where = ["-n", about.namespace] if about.namespace else []
    target = [about.kind.lower(), about.name]
    if change.delete:
        return ["kubectl", "delete", *where, *target]
    patch = msgspec.json.encode(plain(change.patch or ())).decode()
    return ["kubectl", "patch", *where, *target, "--type=json", "-p", patch]
