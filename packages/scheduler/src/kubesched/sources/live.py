"""Live clusters: the objects that an API server lists.

From the address of an API server to the objects of its cluster. It sends only list requests, in pages. A kind that is
forbidden or not served is a gap; without nodes or pods it raises an error.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec

from kubesched import __version__
from kubesched.api.codec import decode_json
from kubesched.api.custom import CustomObject, custom_kind
from kubesched.api.kinds import API_VERSIONS, KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.paths import CLUSTER_SCOPED, path_of
from kubesched.api.sharing import sharing
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.client.informers.paged_list import read_pages
from kubesched.client.informers.watched_kinds import ALWAYS, UNFINISHED, watched_kind
from kubesched.client.rest import Query, Refused, Rest, RestClient, RestConfig, Unreachable
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.model.cluster_objects import ADMISSION_KINDS, OUTSIDE, UNADMITTED, ClusterObjects, Gap
from kubesched.sources.own_loop import in_own_loop
from kubesched.sources.patience import patiently
from kubesched.sources.read_documents import DOCUMENT_KINDS, reduced_document
from kubesched.sources.unread import UNREAD_KINDS, gaps_of_unread
from kubesched.sources.workloads import Document

# called with a kind and the number of objects received
Progress = Callable[[str, int], None]

AT_ONCE: Final = 4
ATTEMPTS: Final = 3
# equal versions of older API servers
OLDER_VERSIONS: Final = {"resource.k8s.io/v1": "resource.k8s.io/v1beta2"}
_VOLUMES = "pods with volumes may seem to fit or not to fit"
_DEVICES = "pods with device claims may seem not to fit"
_SPREADING = "default spreading counts fewer pods as alike"
_SCALING = "pods of these workloads cannot be scaled or counted together"
# the uncertain part of answers without a kind
UNCERTAIN: Final = {
    "Pod": "nodes may be fuller than they seem",
    "Namespace": "affinity terms with a namespaceSelector select no namespaces",
    "PodDisruptionBudget": "preemption and drains ignore budgets",
    "Service": _SPREADING,
    "ReplicationController": _SPREADING,
    "ReplicaSet": _SPREADING,
    "StatefulSet": _SPREADING,
    "PersistentVolume": _VOLUMES,
    "PersistentVolumeClaim": _VOLUMES,
    "CSINode": "limits of volumes on nodes are not counted",
    "VolumeAttachment": "limits of volumes on nodes may be counted too low",
    "CSIDriver": _VOLUMES,
    "CSIStorageCapacity": "volumes may seem to fit where storage is short",
    "ResourceSlice": _DEVICES,
    "DeviceClass": _DEVICES,
    "ResourceClaim": _DEVICES,
    "ResourceClaimTemplate": _DEVICES,
    "PodGroup": "pods of groups may seem not to fit",
    "DeviceTaintRule": "devices may seem to be free of taints",
    "Deployment": _SCALING,
    "DaemonSet": _SCALING,
    "Job": _SCALING,
    "CronJob": _SCALING,
    **UNADMITTED,
}


class ListedKind(NamedTuple):
    """A kind to list: its version and its struct, or None for a kind kept as documents."""

    name: str
    api_version: str
    struct: type[ApiObject] | None
    path: str
    query: Query


def read_live(
    target: RestConfig, custom_kinds: Collection[str] = (), progress: Progress = lambda kind, count: None
) -> ClusterObjects:
    """Return the cluster behind an API server; raises KubeschedError.

    `custom_kinds` are the kinds that plugins look up, such as `foos.v1.example.com`.
    """
    return in_own_loop(_read(target, listed_kinds(custom_kinds), progress))


def listed_kinds(custom_kinds: Collection[str] = ()) -> list[ListedKind]:
    """Return the kinds for questions, nodes and pods first."""
    names = [*ALWAYS, *(kind for kind in API_VERSIONS if kind not in ALWAYS and kind not in UNREAD_KINDS)]
    known = [
        ListedKind(kind, API_VERSIONS[kind], KINDS[kind], path_of(kind), UNFINISHED if kind == "Pod" else {})
        for kind in names
    ]
    documents = [
        ListedKind(kind, version, None, path_of(kind, api_version=version), {})
        for kind, version in DOCUMENT_KINDS.items()
        if kind not in KINDS
    ]
    custom = [
        ListedKind(name, "", custom_kind(name), found.path, {})
        for name in custom_kinds
        if (found := watched_kind(name)) is not None
    ]
    return [*known, *documents, *custom]


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


async def _read(target: RestConfig, kinds: Sequence[ListedKind], progress: Progress) -> ClusterObjects:
    rest = RestClient(target, f"kubesched/{__version__}")
    reading = _Reading(rest, target, progress)
    try:
        version = await server_version(rest)
        await reading.kinds(kinds)
    except (Refused, Unreachable) as error:
        raise KubeschedError(f"the cluster cannot be read: {error}{to_check(error, target)}") from None
    finally:
        await rest.close()
    return replace(
        reading.cluster(), origin=target.origin, kubernetes=version, namespace=target.namespace, server=target
    )


def to_check(error: Refused | Unreachable, target: RestConfig) -> str:
    """Return the end of a sentence with what to check; empty if the error itself has it."""
    if isinstance(error, Refused) or error.maybe_done:
        return ""
    if "has expired" in str(error):
        return "; the server needs a new one, unless the clock here is wrong"
    return "" if "check " in str(error) else f"; check that it runs, and the server of {target.origin}"


async def server_version(rest: Rest) -> str:
    """Return the release of a server, if known; rejected credentials are an error."""
    try:
        return msgspec.json.decode(await rest.get("/version"), type=_Version).git_version
    except msgspec.MsgspecError:
        return ""
    except Refused as refused:
        if refused.code == 401:
            raise
        return ""


class _Reading:
    """Lists kinds and collects the objects."""

    def __init__(self, rest: RestClient, target: RestConfig, progress: Progress) -> None:
        self._rest = rest
        self._namespace = target.namespace
        self._hurries = bool(target.timeout_seconds)
        self._progress = progress
        self._lists: dict[str, _KindList] = {}
        self._gaps: dict[str, Gap] = {}

    async def kinds(self, kinds: Sequence[ListedKind]) -> None:
        """List kinds, several at once."""
        turns = asyncio.Semaphore(AT_ONCE)
        # in the order of the kinds, not of their responses
        self._lists = {kind.name: _KindList(kind, self._progress) for kind in kinds}

        async def in_turn(kind: ListedKind) -> None:
            async with turns:
                await self._list(kind)

        try:
            async with asyncio.TaskGroup() as group:
                for kind in kinds:
                    group.create_task(in_turn(kind))
        except ExceptionGroup as several:
            # one error is enough
            raise several.exceptions[0] from None

    def cluster(self) -> ClusterObjects:
        """Return the collected objects."""
        lists = self._lists.values()
        unread = [problem for each in lists for problem in each.unread]
        documents = [document for each in lists for document in each.documents]
        return ClusterObjects(
            tuple(obj for each in lists for obj in each.objects),
            tuple(each for each in documents if each["kind"] not in ADMISSION_KINDS),
            admission=tuple(each for each in documents if each["kind"] in ADMISSION_KINDS),
            unread=tuple(kind for kind in UNADMITTED if kind in self._gaps),
            taken_at=datetime.now(UTC),
            custom_kinds=tuple(kind for kind, each in self._lists.items() if each.custom and kind not in self._gaps),
            gaps=(*(self._gaps[kind] for kind in self._lists if kind in self._gaps), *gaps_of_unread(unread)),
        )

    async def _list(self, kind: ListedKind) -> None:
        try:
            await self._attempts(kind, kind.path)
        except Refused as refused:
            if refused.code == 404:
                await self._list_older(kind)
            elif refused.code == 403:
                await self._list_in_namespace(kind, refused)
            else:
                raise

    async def _list_older(self, kind: ListedKind) -> None:
        """List a kind in an older version of its API; the server may lack the kind."""
        older = OLDER_VERSIONS.get(kind.api_version)
        if older is not None:
            try:
                await self._attempts(kind, path_of(kind.name, api_version=older))
                return
            except Refused as refused:
                if refused.code not in (403, 404):
                    raise
        # alpha and beta versions are disabled by default
        if "alpha" not in kind.api_version and "beta" not in kind.api_version:
            self._leave_out(kind, f"the API server does not serve {kind.path.removeprefix('/')}")

    async def _list_in_namespace(self, kind: ListedKind, refused: Refused) -> None:
        """List a kind in the context's namespace only, for users with rights only there."""
        if kind.name not in CLUSTER_SCOPED:
            start, _, plural = kind.path.rpartition("/")
            try:
                await self._attempts(kind, f"{start}/namespaces/{self._namespace}/{plural}")
            except Refused as error:
                if error.code not in (403, 404):
                    raise
            else:
                self._leave_out(kind, str(refused), f"{kind.name}{OUTSIDE}{self._namespace}")
                return
        if kind.name in ALWAYS:
            raise KubeschedError(f"{refused}; answers need them: request the right to list them")
        self._leave_out(kind, str(refused))

    def _leave_out(self, kind: ListedKind, why: str, what: str = "") -> None:
        uncertain = UNCERTAIN.get(kind.name, f"answers that depend on {kind.name}")
        self._gaps[kind.name] = Gap(what or kind.name, why, uncertain)

    async def _attempts(self, kind: ListedKind, path: str) -> None:
        """List a kind; retry if the connection breaks, or the server is busy."""
        found = self._lists[kind.name]

        async def listed() -> None:
            found.begin()
            await read_pages(self._rest, path, kind.query, found.take, found.begin)

        await patiently(listed, ATTEMPTS, hurries=self._hurries)


class _KindList:
    """The received objects of a kind."""

    def __init__(self, kind: ListedKind, progress: Progress) -> None:
        self._kind = kind
        self._progress = progress
        self.custom = kind.struct is not None and issubclass(kind.struct, CustomObject)
        self._share: Callable[[Any], Any] = sharing(kind.struct) if kind.struct is not None else lambda obj: obj
        self.begin()

    def begin(self) -> None:
        """Drop the received objects: the list starts again."""
        self.objects: list[ApiObject] = []
        self.documents: list[Document] = []
        self.unread: list[str] = []

    async def take(self, items: list[bytes]) -> None:
        """Decode objects of a list."""
        for item in items:
            try:
                self._read(item)
            except (InvalidObjectError, *UNREADABLE) as error:
                self.unread.append(str(error))
        self._progress(self._kind.name, len(self.objects) or len(self.documents))
        # let other tasks run
        await asyncio.sleep(0)

    def _read(self, item: bytes) -> None:
        kind = self._kind
        if kind.name in DOCUMENT_KINDS:
            found = msgspec.json.decode(item, type=dict[str, Any])
            document = {**found, "apiVersion": kind.api_version, "kind": kind.name}
            self.documents.append(reduced_document(document))
        if kind.struct is not None:
            obj = decode_json(kind.struct, item)
            if not obj.metadata.name:
                raise InvalidObjectError(f"{kind.name} without a name")
            self.objects.append(self._share(obj))
