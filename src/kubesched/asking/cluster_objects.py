"""The objects of a cluster at one moment, and what of it could not be read.

From a source (a live cluster, a snapshot, manifests) to the model that questions are asked of.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kubesched.api.meta import ApiObject
from kubesched.asking.answers import Answer

if TYPE_CHECKING:
    # slow to import, and only live clusters have one
    from kubesched.client.rest import RestConfig


# between a kind and the only namespace in which it could be read
OUTSIDE = " outside namespace "


@dataclass(frozen=True, slots=True)
class Gap(Answer):
    """Something that was not read: what, why, and what is uncertain because of it."""

    what: str
    why: str
    uncertain: str


@dataclass(frozen=True, slots=True)
class ClusterObjects:
    """The objects of a cluster.

    `objects` are of the kinds that scheduling reads; `workloads` are the documents of Deployments, StatefulSets, Jobs
    and the like, by which pods are counted and scaled. `origin` names the source in messages, `kubernetes` is the
    release of its API server. `namespace` is that of names without one; `only_namespace` is set if one was asked for.
    `server` is how the API server of a live cluster is reached. `custom_kinds` are the kinds of custom resources that
    were read, such as `foos.v1.example.com`.
    """

    objects: tuple[ApiObject, ...]
    workloads: tuple[dict[str, Any], ...] = ()
    origin: str = ""
    taken_at: datetime | None = None
    gaps: tuple[Gap, ...] = ()
    kubernetes: str = ""
    anonymised: bool = False
    namespace: str = "default"
    only_namespace: str = ""
    server: "RestConfig | None" = None
    custom_kinds: tuple[str, ...] = ()
