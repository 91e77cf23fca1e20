"""Manifests into a server.

    manifests ──order──▶ create, then status ──▶ what came from a cluster is settled ──▶ Report

Objects come in an order in which each finds what it needs, otherwise in that of the files. What is wrong names file,
document, kind and name; the others are still loaded, and a problem that many have is told once, with a count. An object
with a UID comes from a cluster, which has admitted it: it keeps status, age and UID, and classes or namespaces that
were left behind are no reason to refuse it (`importing`). A server that was kept keeps what it has: only what is
missing is loaded, so that it can be started again as it was started first.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.requests import ADMINISTRATOR
from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.api.statuses import ApiError
from kubesched.controlplane.conversion import to_storage
from kubesched.controlplane.kinds.network.service_addresses import SERVICES
from kubesched.controlplane.loading.importing import make_namespaces, settle_imported
from kubesched.controlplane.loading.manifests import Manifest, read, shown
from kubesched.controlplane.loading.repeated import RepeatedMessages
from kubesched.controlplane.registry.declaration import LoadOrder
from kubesched.controlplane.server.catalog import DECLARATIONS
from kubesched.controlplane.server.server import ApiServer
from kubesched.controlplane.transport.local_client import LocalClient

_ORDER = {each.resource.kind: each.load_order for each in DECLARATIONS}
# what a dump says that the server must not be asked for
_NOT_FOR_CREATION = ("uid", "resourceVersion", "managedFields", "generation", "selfLink", "deletionTimestamp")
# fields that do not exist are refused, told of, or dropped without a word
STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"

Progress = Callable[[Sequence[Manifest]], Iterable[Manifest]]
# what is to be loaded besides some manifests, such as nodes like those among them
Others = Callable[[Sequence[Manifest]], Sequence[Manifest]]


class LoadReport(NamedTuple):
    """How many objects were loaded, how many were there from an earlier time, and what was wrong with the others.

    A problem or warning that many objects have is one line; warnings are about objects that were loaded. `refused` is
    how many were not loaded, `skipped` how many of each kind of another cluster there is no place for here, and
    `namespaces` how many were made for objects that came without theirs.
    """

    loaded: int
    problems: list[str]
    kept: int = 0
    warnings: Sequence[str] = ()
    refused: int = 0
    skipped: Mapping[str, int] = {}
    namespaces: int = 0


def load(
    server: ApiServer,
    paths: Sequence[str],
    progress: Progress = iter,
    others: Others = lambda manifests: (),
    validation: str = STRICT,
) -> LoadReport:
    """Load others and all manifests under some paths into a server; `progress` is shown each as its turn comes."""
    manifests, problems = read(paths)
    found = create(server, [*others(manifests), *manifests], progress, validation)
    return found._replace(problems=problems + found.problems, refused=len(problems) + found.refused)


def create(
    server: ApiServer, manifests: Sequence[Manifest], progress: Progress = iter, validation: str = STRICT
) -> LoadReport:
    """Create objects in a server, each after what it needs."""
    creation = _Creation(server, validation)
    namespaces = make_namespaces(creation.client, manifests)
    for manifest in progress(sorted(manifests, key=lambda manifest: _ORDER.get(manifest.kind, LoadOrder.LAST))):
        creation.add(manifest)
    settle_imported(creation.client, creation.imported)
    return creation.report(manifests)._replace(namespaces=namespaces)


class _Creation:
    """Creates objects one after another, and remembers what became of them."""

    def __init__(self, server: ApiServer, validation: str) -> None:
        self._warned: list[str] = []
        self.client = LocalClient(server, ADMINISTRATOR, warn=self._warned.append)
        self._server = server
        self._validation = validation
        self._warnings = RepeatedMessages()
        self._refused: dict[str, str] = {}
        self._skipped: Counter[str] = Counter()
        # UIDs as they came, by set, namespace and name
        self._created: dict[tuple[str, str, str], str] = {}
        self._kept = self._twice = 0
        self.imported: list[Manifest] = []

    def add(self, manifest: Manifest) -> None:
        """Create an object, unless it exists already or its kind is not served."""
        self._warned.clear()
        try:
            self._create(manifest)
        except ApiError as error:
            # which kind it is in which version is said already
            before, strict, problem = error.message.partition("strict decoding error: ")
            self._refused[manifest.place] = problem if strict else before
        else:
            for text in dict.fromkeys(self._warned):
                self._warnings.add(manifest, text)

    def report(self, manifests: Sequence[Manifest]) -> LoadReport:
        """Return the report, with problems in the order of the files."""
        problems = RepeatedMessages()
        for manifest in manifests:
            if manifest.place in self._refused:
                problems.add(manifest, self._refused[manifest.place])
        refused = len(self._refused)
        loaded = len(manifests) - refused - self._kept - self._twice - self._skipped.total()
        return LoadReport(
            loaded, problems.lines(), self._kept, tuple(self._warnings.lines()), refused, dict(self._skipped)
        )

    def _create(self, manifest: Manifest) -> None:
        """Create one object, with its status; what the server came with is replaced, what is older than that stays."""
        document = manifest.document
        resource = _resource(self._server, document, exported=manifest.exported)
        if resource is None:
            self._skipped[manifest.kind] += 1
            return
        wanted = _wanted(resource, document)
        if _is_recalled(self._server, resource, wanted["metadata"]):
            self._kept += 1
            return
        meta, uid = wanted["metadata"], str(document["metadata"].get("uid") or "")
        key = (resource.prefix, meta.get("namespace", ""), str(meta.get("name")))
        if uid and self._created.get(key) == uid:
            # a cluster shows some in two versions
            self._twice += 1
            return
        found = self._put(manifest, resource, wanted, is_new=key not in self._created)
        if found is None:
            self._kept += 1
            return
        self._created[resource.prefix, meta.get("namespace", ""), found["metadata"]["name"]] = uid
        found = self._with_status(manifest, resource, found)
        if _has_generated_selector(resource, document):
            found["spec"].pop("manualSelector", None)
        _keep_identity(self._server, resource, found, document["metadata"])
        if manifest.exported:
            self.imported.append(manifest)

    def _with_status(self, manifest: Manifest, resource: Resource, found: Document) -> Document:
        """Return an object with the status that it came with, as it is stored."""
        status = manifest.document.get("status")
        if not status or "status" not in resource.subresources:
            return found
        try:
            return self.client.update(resource, {**found, "status": status}, "status")
        except ApiError as error:
            if not manifest.exported:
                raise
            # a cluster had it that way, for reasons that need not be ours
            self._warned.append(f"its status is left out: {error.message}")
            return found

    def _put(self, manifest: Manifest, resource: Resource, wanted: Document, *, is_new: bool) -> Document | None:
        """Return an object as stored; None if the existing one stays."""
        try:
            # fields of another release do not make an object wrong that a cluster has taken
            if manifest.exported:
                return self.client.take_over(resource, wanted, min(self._validation, WARN, key=_STRICTNESS.index))
            if resource.prefix == SERVICES:
                # which may keep the addresses of another cluster's network
                return self.client.take_over(resource, wanted, self._validation)
            return self.client.create(resource, wanted, self._validation)
        except ApiError as error:
            if error.reason != "AlreadyExists" or not is_new:
                raise
            return self._replaced(manifest, resource, wanted)
        except (ValueError, OverflowError) as error:
            raise ApiError(400, "BadRequest", f"cannot be written as JSON: {error}") from None

    def _replaced(self, manifest: Manifest, resource: Resource, wanted: Document) -> Document | None:
        """Return a bootstrap object, replaced by the manifest's; None if it stays as it is.

        What a cluster has made for itself, such as the range of its addresses, may be nothing that another can take.
        """
        meta = wanted["metadata"]
        before = self.client.get(resource, meta.get("namespace", ""), meta["name"])
        if before is None or not manifest.exported:
            return self.client.update(resource, wanted)
        version = before["metadata"]["resourceVersion"]
        try:
            return self.client.update(resource, {**wanted, "metadata": {**meta, "resourceVersion": version}})
        except ApiError:
            return None


_STRICTNESS = (IGNORE, WARN, STRICT)


def _is_recalled(server: ApiServer, resource: Resource, meta: Document) -> bool:
    """Return whether an object is there from before the server was started: its life has gone on since."""
    store = server.registry.store
    found = store.get(resource.prefix, meta.get("namespace", ""), str(meta.get("name")))
    return found is not None and found.version <= store.recalled


def _resource(server: ApiServer, document: Document, *, exported: bool) -> Resource | None:
    """Return the resource of an object; None if it is not served here, but was in the cluster it comes from."""
    version, kind = document.get("apiVersion"), document.get("kind")
    for field, value in (("apiVersion", version), ("kind", kind)):
        if not isinstance(value, str) or not value:
            raise ApiError(400, "BadRequest", f"{field} is not set")
    catalog = server.registry.catalog
    resource = catalog.of_kind(str(version), str(kind))
    if resource is None or "list" not in resource.verbs:
        if exported:
            return None
        others = [each.api_version for each in catalog.resources if each.kind == kind and "list" in each.verbs]
        hint = f"; it is served in {', '.join(others)}" if others else ""
        raise ApiError(404, "NotFound", f'no matches for kind "{kind}" in version "{version}"{hint}')
    return resource


def _wanted(resource: Resource, document: Document) -> Document:
    """Return a document as a server can be asked to create it."""
    meta = document.get("metadata")
    if not isinstance(meta, dict):
        raise ApiError(400, "BadRequest", f"metadata: an object was expected, found {shown(meta)}")
    meta = {field: value for field, value in meta.items() if field not in _NOT_FOR_CREATION}
    if resource.namespaced:
        meta["namespace"] = meta.get("namespace") or "default"
        if not isinstance(meta["namespace"], str):
            raise ApiError(
                400, "BadRequest", f"metadata.namespace: text was expected, found {shown(meta['namespace'])}"
            )
    else:
        meta.pop("namespace", None)
    if _has_generated_selector(resource, document):
        return {**document, "metadata": meta, "spec": {**document["spec"], "manualSelector": True}}
    return {**document, "metadata": meta}


def _has_generated_selector(resource: Resource, document: Document) -> bool:
    """Return whether an object selects by the UID that it had where it comes from: one that is not given another."""
    spec = document.get("spec")
    return (
        resource.qualified == "jobs.batch"
        and isinstance(spec, dict)
        and bool(spec.get("selector"))
        and not spec.get("manualSelector")
    )


def _keep_identity(server: ApiServer, resource: Resource, stored: Document, given: Document) -> None:
    """Give an object the UID and the age that it had where it comes from; the API has no words for that."""
    kept = {field: given[field] for field in ("uid", "creationTimestamp") if isinstance(given.get(field), str)}
    if not kept or stored["metadata"] == {**stored["metadata"], **kept}:
        return
    document = to_storage(resource, {**stored, "metadata": {**stored["metadata"], **kept}})
    server.registry.store.put(resource.prefix, document, server.registry.strategy(resource).fields(document))
