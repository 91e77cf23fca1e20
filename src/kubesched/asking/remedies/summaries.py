"""The sentence of a remedy.

From its steps to one sentence; pods that are evicted from a node are named together.
"""

from collections.abc import Sequence

from kubesched.asking.remedies.steps import Step, Steps

MOST_NAMED = 5


def summary_of(steps: Steps) -> str:
    """Return what a remedy does, in one sentence without a full stop."""
    return "; ".join(dict.fromkeys(_merged(steps)))


def _merged(steps: Steps) -> list[str]:
    texts = []
    deletions: dict[str, list[Step]] = {}
    for step in steps:
        verb, pod, rest = _parts(step)
        if pod:
            deletions.setdefault(f"{verb}|{rest}", []).append(step)
        else:
            texts.append(step.summary)
    for key, together in deletions.items():
        verb, _, rest = key.partition("|")
        if len(together) == 1:
            texts.append(together[0].summary)
        else:
            texts.append(f"{verb} {len(together)} pods{rest}: {_listed([_parts(step)[1] for step in together])}")
    return texts


def _parts(step: Step) -> tuple[str, str, str]:
    """Return the verb, the pod and the rest of a sentence about a deleted pod."""
    if not step.delete or step.object.kind != "Pod":
        return "", "", ""
    name = f"{step.object.namespace}/{step.object.name}"
    verb, _, rest = step.summary.partition(f" pod {name}")
    return verb, name, rest


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return shown + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
