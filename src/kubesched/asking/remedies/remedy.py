"""A remedy as a value.

From `remedies` to the answer about a pod.
"""

from dataclasses import dataclass

from kubesched.reports.answers import Answer, ObjectChange


@dataclass(frozen=True, slots=True)
class Remedy(Answer):
    """A smallest set of changes after which the pod goes to `node`: tried, and accepted by the API server's rules.

    `scope` says what is changed: "pod", "cluster" or "others". `changes` are those of the objects that the scheduler
    reads; `requests` are what you send to the API server for them, in order, and `commands` the same for kubectl.
    Without a request the change is not one of the API: a node that joins, a setting of a kubelet. `recreate`: the pod
    is deleted and created again; `owner` is then its controller, if there is one: of a pod of a Deployment the
    Deployment. `preempts` are the pods that the scheduler evicts for the pod then, before it goes to `node`: without
    any the node takes it at once.
    """

    summary: str
    scope: str
    changes: tuple[ObjectChange, ...]
    node: str
    recreate: bool = False
    owner: str | None = None
    preempts: tuple[str, ...] = ()
    requests: tuple[ObjectChange, ...] = ()
    commands: tuple[str, ...] = ()
