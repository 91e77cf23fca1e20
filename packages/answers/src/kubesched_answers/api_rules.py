"""The rules of the API server for changes: a change that it rejects is not proposed.

    a change ──an API server in memory, with admission's objects──▶ a dry run of its request ──▶ the refusal

From a change and the object that the cluster has to the reason why the API server refuses it, empty if it accepts it.
A creation is sent as a create, a patch as an update of the object, its status to the subresource, and a recreation as
the create of the patched object. Objects of a model leave out some fields, so only those problems count that the
object does not have without the change.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.json_patch import OperationError, json_patched
from kubesched.model.cluster_model import ClusterModel
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched_answers.templates.reading import admitting_server
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.conversion import to_storage
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage.store import Stored
from kubesched_controlplane.transport.local_client import path_of

# metadata of an existing object that a creation must not have
_OF_THE_SERVER: Final = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "generation")
_DRY_RUN: Final = {"dryRun": ["All"], "fieldValidation": ["Ignore"]}

Problems = tuple[str, ...]


class ApiRules:
    """Checks whether the API server accepts changes of a model's objects."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._namespaces: set[str] = set()

    def refusal(self, change: ObjectChange) -> str:
        """Return why the API server refuses a change, an empty text if it accepts it; deletions are accepted."""
        if change.delete:
            return ""
        if change.create is not None:
            return self.refusal_of_creation(change.create)
        old = self.document_of(change.object)
        if old is None:
            return f"{change.object} does not exist"
        try:
            new = json_patched(old, list(change.patch or ()))
        except OperationError as error:
            return f"the patch cannot be applied: {error}"
        return self.refusal_of_recreation(old, new) if change.recreate else self.refusal_of_update(old, new)

    def refusal_of_creation(self, new: Mapping[str, Any]) -> str:
        """Return why the API server refuses a new object."""
        return _first(self._created(new))

    def refusal_of_update(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
        """Return why the API server refuses to replace an object by another one, in place."""
        found = self._updated(old, new)
        return _first(_added(found, self._updated(old, old))) if found else ""

    def refusal_of_recreation(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
        """Return why the API server refuses to create an object in place of another one, deleted before."""
        found = self._created(new)
        if not found:
            return ""
        # admission may refuse the old object before it is validated
        before = (*self._created(old), *self._created(old, imported=True))
        return _first(_added(found, before))

    def refusal_of_copy(self, document: Mapping[str, Any]) -> str:
        """Return why the API server refuses to create a copy of an object of the cluster."""
        found = self._created(document)
        return _first(_added(found, self._created(document, imported=True))) if found else ""

    def document_of(self, name: ObjectName) -> Document | None:
        """Return the document of an object or a workload, None if it is missing in the cluster."""
        for document in self._model.source.workloads:
            meta = document["metadata"]
            same_place = meta.get("namespace", "") == name.namespace and meta.get("name") == name.name
            if document["kind"] == name.kind and same_place:
                return document
        found = self._model.find(name)
        return to_builtins(found) if found is not None else None

    # -- requests

    @cached_property
    def _server(self) -> ApiServer:
        server, _ = admitting_server(self._model, (), ())
        return server

    def _created(self, document: Mapping[str, Any], *, imported: bool = False) -> Problems:
        resource = self._resource(document)
        if resource is None:
            return ()
        meta = {field: value for field, value in document["metadata"].items() if field not in _OF_THE_SERVER}
        return self._ask(self._request("POST", resource, {**document, "metadata": meta}, imported=imported))

    def _updated(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> Problems:
        """Return the problems of an update of an object, and of its status."""
        resource = self._resource(old)
        if resource is None:
            return ()
        store = self._server.registry.store
        stored = self._stored(resource, old)
        try:
            # the API server has defaults that the model leaves out
            problems = self._ask(self._request("PUT", resource, _merged(stored.document(), old, new)))
            if not problems and old.get("status") != new.get("status") and "status" in resource.subresources:
                status = {**stored.document(), "status": new.get("status") or {}}
                problems = self._ask(self._request("PUT", resource, status, "status"))
            return problems
        finally:
            store.remove(resource.prefix, stored, stored.document())

    def _stored(self, resource: Resource, document: Mapping[str, Any]) -> Stored:
        """Put an object into the store unchanged, with the defaults of its kind if it is valid."""
        registry = self._server.registry
        request = self._request("POST", resource, document, imported=True)
        response = self._server.handle(request)
        assert isinstance(response, Response)
        complete = dict(document) if response.code >= 400 else {**response.document(), **_status_of(document)}
        meta = {"creationTimestamp": "2000-01-01T00:00:00Z", **complete["metadata"], **document["metadata"]}
        meta = {"uid": registry.new_uid(), **{key: value for key, value in meta.items() if value}}
        for field in ("managedFields", "resourceVersion"):
            meta.pop(field, None)
        kept = to_storage(resource, {**complete, "metadata": meta})
        return registry.store.put(resource.prefix, kept, registry.strategy(resource).fields(kept))

    def _resource(self, document: Mapping[str, Any]) -> Resource | None:
        """Return the resource of an object, None if the API server in memory does not serve its kind."""
        return self._server.registry.catalog.of_kind(str(document["apiVersion"]), str(document["kind"]))

    def _open(self, namespace: str) -> None:
        """Create a namespace that is missing."""
        if namespace and namespace not in self._namespaces:
            self._namespaces.add(namespace)
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            headers = {"content-type": "application/json"}
            self._server.handle(
                Request("POST", "/api/v1/namespaces", {}, headers, msgspec.json.encode(body), ADMINISTRATOR)
            )

    def _ask(self, request: Request) -> Problems:
        """Return the problems that the API server finds in a request."""
        response = self._server.handle(request)
        assert isinstance(response, Response)
        if response.code < 400:
            return ()
        status = response.document()
        causes = (status.get("details") or {}).get("causes") or ()
        return tuple(f"{each.get('field', '')}: {each['message']}" for each in causes) or (status["message"],)

    def _request(
        self,
        method: str,
        resource: Resource,
        document: Mapping[str, Any],
        subresource: str = "",
        *,
        imported: bool = False,
    ) -> Request:
        """Return a dry run of a request, in an existing namespace."""
        meta = document["metadata"]
        self._open(meta.get("namespace", ""))
        name = "" if method == "POST" else meta["name"]
        path = path_of(resource, meta.get("namespace", "") if resource.namespaced else "", name, subresource)
        headers = {"content-type": "application/json", "accept": "application/json"}
        return Request(method, path, _DRY_RUN, headers, msgspec.json.encode(document), ADMINISTRATOR, imported)


def _merged(stored: Document, old: Mapping[str, Any], new: Mapping[str, Any]) -> Document:
    """Return a stored object with the fields that differ between two documents."""
    found = dict(stored)
    for field in {*old, *new} - {"status"}:
        if isinstance(before := old.get(field), dict) and isinstance(after := new.get(field), dict):
            found[field] = _merged(found.get(field) or {}, before, after)
        elif old.get(field) != new.get(field):
            if field in new:
                found[field] = new[field]
            else:
                found.pop(field, None)
    return found


def _status_of(document: Mapping[str, Any]) -> Document:
    return {"status": document["status"]} if document.get("status") else {}


def _added(problems: Problems, before: Problems) -> Problems:
    """Return the problems that did not exist before."""
    return tuple(problem for problem in problems if problem not in before)


def _first(problems: Problems) -> str:
    return problems[0] if problems else ""
