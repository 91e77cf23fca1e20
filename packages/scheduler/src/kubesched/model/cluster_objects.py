"""The objects of a cluster at one moment, and the parts that could not be read.

From a source (a live cluster, a snapshot, manifests) to the model for questions.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kubesched.api.meta import ApiObject
from kubesched.reports.answers import Answer

if TYPE_CHECKING:
    # slow to import, and only live clusters have one
    from kubesched.client.rest import RestConfig


# more kinds than those of `api.kinds`: the ones by which the API server admits pods, and the version to read
ADMISSION_KINDS = {"LimitRange": "v1", "ResourceQuota": "v1", "RuntimeClass": "node.k8s.io/v1"}
# without such a kind, the uncertain part of answers about pods that do not exist yet
UNADMITTED = {
    "LimitRange": "pods that do not exist yet get no default requests and limits, and none is refused",
    "ResourceQuota": "pods that do not exist yet count, whatever quotas allow",
    "RuntimeClass": "pods that do not exist yet get no overhead, node selector and tolerations of their runtime class",
    "PriorityClass": "pods that do not exist yet have no priority by class",
    "StorageClass": "pods with volumes may seem to fit or not to fit; claims get no default class",
}
# separates a kind from the only readable namespace
OUTSIDE = " outside namespace "
FORBIDDEN = " is forbidden: "


@dataclass(frozen=True, slots=True)
class Gap(Answer):
    """An unread part of the cluster: what, why, and the resulting uncertainty."""

    what: str
    why: str
    uncertain: str

    @property
    def forbidden(self) -> bool:
        """Return whether the API server refused to list it, with the words `... is forbidden: User ...`."""
        return FORBIDDEN in self.why


@dataclass(frozen=True, slots=True)
class ClusterObjects:
    """The objects of a cluster.

    `objects` are of the kinds that scheduling reads; `workloads` are the documents of Deployments, StatefulSets, Jobs
    and so on, by which pods are counted and scaled; `admission` are the documents of LimitRanges, ResourceQuotas and
    RuntimeClasses, by which the API server admits pods. `unread` are kinds of which there may be more objects than
    the source has, such as those that an export leaves out. `origin` names the source in messages, `kubernetes` is
    the release of its API server. `namespace` is the default for names; `only_namespace` is set if the question is
    about one namespace. `server` is the connection to the API server of a live cluster. `custom_kinds` are the kinds
    of custom resources that were read, such as `foos.v1.example.com`. `drafted`: manifests that no cluster has stored
    are among the sources, and no snapshot is, so that no scheduler has tried the pods.
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
    admission: tuple[dict[str, Any], ...] = ()
    unread: tuple[str, ...] = ()
    drafted: bool = False
