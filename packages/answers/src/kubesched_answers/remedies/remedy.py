"""A remedy as a value.

From `remedies` to the answer about a pod.
"""

from dataclasses import dataclass

from kubesched.reports.answers import Answer, ObjectChange


@dataclass(frozen=True, slots=True)
class Remedy(Answer):
    """A smallest set of changes after which the pod goes to `node`: tried, and accepted by the API server's rules.

    `scope` is "pod", "cluster" or "others" (other pods). `changes` affect the objects that the scheduler reads;
    `requests` are the requests to the API server for them, in order, and `commands` the same for kubectl. A remedy
    without requests happens outside of the API, such as a node that joins or a setting of a kubelet. `recreate`: the
    pod is deleted and created again; `owner` is then its controller, if it has one (for a pod of a Deployment, the
    Deployment). `preempts` are the pods that the scheduler evicts for the pod before it goes to `node`; if empty, the
    node takes it at once.
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
