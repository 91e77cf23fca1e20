"""Remedies as a list, with the commands that apply them.

From remedies to a block. Changes without a command (a node that joins, an unknown controller) are in words.
"""

from collections.abc import Iterator, Sequence

from kubesched.reports.blocks import Item, Items, Tone, Toned
from kubesched.reports.plain_words import number
from kubesched_answers.remedies.remedy import Remedy


def remedy_items(remedies: Sequence[Remedy]) -> Items:
    """Return the remedies, numbered."""
    return Items([Item(each.summary, tuple(_details(each)), each.commands) for each in remedies], numbered=True)


def _details(remedy: Remedy) -> Iterator[Toned]:
    preempted = number(len(remedy.preempts), "pod") if remedy.preempts else ""
    yield Toned(f"then it {f'preempts {preempted} and ' if preempted else ''}goes to {remedy.node}", Tone.MUTED)
    if remedy.recreate and remedy.requests:
        who = f"{remedy.owner} creates the pod again" if remedy.owner else "the pod is deleted and created again"
        yield Toned(who, Tone.MUTED)
    elif remedy.recreate:
        yield Toned(f"the pod has to be created again{f': change {remedy.owner}' if remedy.owner else ''}", Tone.MUTED)
