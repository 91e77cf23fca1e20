"""Loads manifests into a server.

    manifests ──load order──▶ create, then status ──▶ settle imported workloads ──▶ LoadReport

Objects are created after the kinds that they depend on, otherwise in the order of the files. A problem names file,
document, kind and name, and does not stop the load; a problem of many objects is one line, with a count. An object with
a UID is imported from a cluster that has admitted it: it keeps its status, age and UID, and is not refused for missing
classes or namespaces (`importing`). A server with stored objects keeps these: only missing objects are loaded, so that
it can be restarted with the same arguments.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from kubesched.api.quantity_places import invalid_quantities
from kubesched.manifests import Manifest, read, shown
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.conversion import to_storage
from kubesched_controlplane.kinds.network.service_addresses import SERVICES
from kubesched_controlplane.loading.importing import make_namespaces, settle_imported
from kubesched_controlplane.loading.repeated import RepeatedMessages
from kubesched_controlplane.registry.declaration import LoadOrder
from kubesched_controlplane.server.catalog import DECLARATIONS
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

_ORDER = {each.resource.kind: each.load_order for each in DECLARATIONS}
# how the API server's words about a text that is no quantity begin
QUANTITY = "quantities must match"
# metadata of an exported object that a create request must not have
_NOT_FOR_CREATION = ("uid", "resourceVersion", "managedFields", "generation", "selfLink", "deletionTimestamp")
# field validation: unknown fields are refused, dropped with a warning, or dropped
STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"

Progress = Callable[[Sequence[Manifest]], Iterable[Manifest]]
# returns further manifests to load, such as copies of the nodes among the given ones
Others = Callable[[Sequence[Manifest]], Sequence[Manifest]]


class LoadReport(NamedTuple):
    """The numbers of loaded and of kept objects, and the problems and warnings of the load.

    A problem or warning of many objects is one line; warnings are about loaded objects. `kept` is the number of objects
    that were already stored, `refused` of objects with problems, `skipped` of imported objects by kind that is not
    served here, `namespaces` of created namespaces, and `given` of objects that were found in files.
    """

    loaded: int
    problems: list[str]
    kept: int = 0
    warnings: Sequence[str] = ()
    refused: int = 0
    skipped: Mapping[str, int] = {}
    namespaces: int = 0
    given: int = 0


def load(
    server: ApiServer,
    paths: Sequence[str],
    progress: Progress = iter,
    others: Others = lambda manifests: (),
    validation: str = STRICT,
) -> LoadReport:
    """Load all manifests under some paths, and `others`, into a server; `progress` wraps the iteration over them."""
    manifests, problems = read(paths)
    found = create(server, [*others(manifests), *manifests], progress, validation)
    return found._replace(
        problems=problems + found.problems, refused=len(problems) + found.refused, given=len(manifests)
    )


def create(
    server: ApiServer, manifests: Sequence[Manifest], progress: Progress = iter, validation: str = STRICT
) -> LoadReport:
    """Create objects in a server, each after the kinds that it depends on."""
    creation = _Creation(server, validation)
    namespaces = make_namespaces(creation.client, manifests)
    for manifest in progress(sorted(manifests, key=lambda manifest: _ORDER.get(manifest.kind, LoadOrder.LAST))):
        creation.add(manifest)
    settle_imported(creation.client, creation.imported)
    return creation.report(manifests)._replace(namespaces=namespaces)


def _with_place(problem: str, document: Document) -> str:
    """Return why an object is refused; about a quantity the API server does not name the field and its value."""
    if QUANTITY not in problem:
        return problem
    places = [f"{path} is {raw!r}" for path, raw in invalid_quantities(document)]
    return f"{', '.join(places)}: {problem[problem.index(QUANTITY) :]}" if places else problem


class _Creation:
    """Creates objects one after another, and collects the report."""

    def __init__(self, server: ApiServer, validation: str) -> None:
        self._warned: list[str] = []
        self.client = LocalClient(server, ADMINISTRATOR, warn=self._warned.append)
        self._server = server
        self._validation = validation
        self._warnings = RepeatedMessages()
        self._refused: dict[str, str] = {}
        self._skipped: Counter[str] = Counter()
        # the given UIDs, by prefix, namespace and name
        self._created: dict[tuple[str, str, str], str] = {}
        self._kept = self._twice = 0
        self.imported: list[Manifest] = []

    def add(self, manifest: Manifest) -> None:
        """Create an object, unless it exists already or its kind is not served."""
        self._warned.clear()
        try:
            self._create(manifest)
        except ApiError as error:
            # the report already names kind and version
            before, strict, problem = error.message.partition("strict decoding error: ")
            self._refused[manifest.place] = _with_place(problem if strict else before, manifest.document)
        else:
            for text in dict.fromkeys(self._warned):
                self._warnings.add(manifest, text)

    def report(self, manifests: Sequence[Manifest]) -> LoadReport:
        """Return the report; problems are in the order of the files."""
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
        """Create one object with its status; bootstrap objects are replaced, objects of an earlier run stay."""
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
            # exports contain some objects in two versions
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
        """Write the status of a manifest; return the object as stored."""
        status = manifest.document.get("status")
        if not status or "status" not in resource.subresources:
            return found
        try:
            return self.client.update(resource, {**found, "status": status}, "status")
        except ApiError as error:
            if not manifest.exported:
                raise
            # another release accepted the status; the object is loaded without it
            self._warned.append(f"its status is left out: {error.message}")
            return found

    def _put(self, manifest: Manifest, resource: Resource, wanted: Document, *, is_new: bool) -> Document | None:
        """Create or replace an object; return it as stored, None if the existing one stays."""
        try:
            # unknown fields of another release are no reason to refuse an imported object
            if manifest.exported:
                return self.client.take_over(resource, wanted, min(self._validation, WARN, key=_STRICTNESS.index))
            if resource.prefix == SERVICES:
                # services keep cluster IPs outside this server's network
                return self.client.take_over(resource, wanted, self._validation)
            return self.client.create(resource, wanted, self._validation)
        except ApiError as error:
            if error.reason != "AlreadyExists" or not is_new:
                raise
            return self._replaced(manifest, resource, wanted)
        except (ValueError, OverflowError) as error:
            raise ApiError(400, "BadRequest", f"cannot be written as JSON: {error}") from None

    def _replaced(self, manifest: Manifest, resource: Resource, wanted: Document) -> Document | None:
        """Replace a bootstrap object by the manifest's; return it as stored, None if the replacement is refused.

        Another cluster's own objects, such as its service CIDR, may not be valid changes here.
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
    """Return whether an object was stored by an earlier run of the server."""
    store = server.registry.store
    found = store.get(resource.prefix, meta.get("namespace", ""), str(meta.get("name")))
    return found is not None and found.version <= store.recalled


def _resource(server: ApiServer, document: Document, *, exported: bool) -> Resource | None:
    """Return the resource of an object; None if an imported object's kind is not served here. Raises ApiError."""
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
    """Return the document for the create request of an object. Raises ApiError."""
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
    """Return whether an object is a job with a generated selector, which names its UID and must be kept."""
    spec = document.get("spec")
    return (
        resource.qualified == "jobs.batch"
        and isinstance(spec, dict)
        and bool(spec.get("selector"))
        and not spec.get("manualSelector")
    )


def _keep_identity(server: ApiServer, resource: Resource, stored: Document, given: Document) -> None:
    """Store an object with its given UID and creation timestamp, which no API request can set."""
    kept = {field: given[field] for field in ("uid", "creationTimestamp") if isinstance(given.get(field), str)}
    if not kept or stored["metadata"] == {**stored["metadata"], **kept}:
        return
    document = to_storage(resource, {**stored, "metadata": {**stored["metadata"], **kept}})
    server.registry.store.put(resource.prefix, document, server.registry.strategy(resource).fields(document))
