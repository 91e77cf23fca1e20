"""A remedy as a value.

From `remedies` to the answer about a pod.
"""

from dataclasses import dataclass

from kubesched.asking.answers import Answer, ObjectChange


@dataclass(frozen=True, slots=True)
class Remedy(Answer):
    """A smallest set of changes after which the pod goes to `node`; it was tried.

    `scope` says what is changed: "pod", "cluster" or "others". `recreate`: the pod has to be made anew, since its field
    cannot be changed in place; `owner` is then the controller whose template to change, if there is one: of a pod of a
    Deployment the Deployment. `preempts` are the pods that the scheduler evicts for the pod then, before it goes to
    `node`: without any the node takes it at once.
    """

    summary: str
    scope: str
    changes: tuple[ObjectChange, ...]
    node: str
    recreate: bool = False
    owner: str | None = None
    preempts: tuple[str, ...] = ()
