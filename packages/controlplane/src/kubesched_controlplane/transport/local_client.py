"""The API server as a function call: for controllers, loaders and tests in the same process.

From documents to documents; an error is raised as the `ApiError` that a client over HTTP would get.
"""

from collections.abc import Callable, Mapping

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.media_types import STRATEGIC_MERGE_PATCH
from kubesched_controlplane.api.requests import Request, Response, User
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.representation.negotiation import ACCEPT_WITHOUT_MANAGED_FIELDS
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.server.verbs.watching import Watch
from kubesched_controlplane.server.verbs.writing import warnings_in
from kubesched_controlplane.storage.store import Stored


class LocalClient:
    """A client in the same process, without credentials: its user is an argument.

    The agent is the field manager. Objects are returned without managedFields. `warn` is called with each warning.
    """

    def __init__(
        self,
        server: ApiServer,
        user: User,
        agent: str = "kubesched",
        warn: Callable[[str], None] | None = None,
    ) -> None:
        self.server = server
        self._warn = warn
        self._user = user
        self._headers = {"accept": ACCEPT_WITHOUT_MANAGED_FIELDS, "user-agent": agent}

    def resource(self, api_version: str, kind: str) -> Resource:
        """Return a resource that is served."""
        found = self.server.registry.catalog.of_kind(api_version, kind)
        assert found is not None, f"{kind} of {api_version} is not served"
        return found

    def stored(self, resource: Resource) -> list[Stored]:
        """Return all stored objects of a resource, in the order of their keys."""
        return self.server.registry.store.set_of(resource.prefix).in_order()

    def get(self, resource: Resource, namespace: str, name: str) -> Document | None:
        """Return an object, None if it does not exist."""
        try:
            return self._ask("GET", path_of(resource, namespace, name))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def create(self, resource: Resource, document: Document, validation: str = "") -> Document:
        """Create an object; return it as stored. Validation of unknown fields: Strict, Warn (the default) or Ignore."""
        return self._ask("POST", _place_of(resource, document), document, validation=validation)

    def take_over(self, resource: Resource, document: Document, validation: str = "") -> Document:
        """Create an object that another cluster has admitted; return it as stored."""
        return self._ask("POST", _place_of(resource, document), document, validation=validation, imported=True)

    def create_at(self, resource: Resource, place: tuple[str, str], subresource: str, document: Document) -> Document:
        """Post to a subresource of the object at (namespace, name): a binding, an eviction."""
        return self._ask("POST", path_of(resource, *place, subresource), document)

    def update(self, resource: Resource, document: Document, subresource: str = "") -> Document:
        """Replace an object; return it as stored."""
        meta = document["metadata"]
        return self._ask("PUT", path_of(resource, meta.get("namespace", ""), meta["name"], subresource), document)

    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Document,
        subresource: str = "",
        form: str = STRATEGIC_MERGE_PATCH,
    ) -> Document:
        """Patch an object; return it as stored."""
        headers = {**self._headers, "content-type": form}
        return self._ask("PATCH", path_of(resource, namespace, name, subresource), change, headers)

    def delete(self, resource: Resource, namespace: str, name: str, options: Document | None = None) -> None:
        """Delete an object; it is no error if the object does not exist."""
        try:
            self._ask("DELETE", path_of(resource, namespace, name), options)
        except ApiError as error:
            if error.code != 404:
                raise

    def watch(self, resource: Resource, wake: Callable[[], None], version: str = "") -> Watch:
        """Watch all objects of a resource after a resource version or, without one, with the existing objects first."""
        query = {"watch": ["true"], "resourceVersion": [version]}
        found = self.server.handle(Request("GET", path_of(resource), query, self._headers, b"", self._user))
        if isinstance(found, Response):
            raise _refused(found)
        found.on_ready(wake)
        return found

    def _ask(
        self,
        method: str,
        path: str,
        document: Document | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        validation: str = "",
        imported: bool = False,
    ) -> Document:
        body = b"" if document is None else msgspec.json.encode(document)
        query = {"fieldValidation": [validation]} if validation else {}
        request = Request(method, path, query, headers or self._headers, body, self._user, imported)
        found = self.server.handle(request)
        assert isinstance(found, Response)
        if found.code >= 400:
            raise _refused(found)
        if self._warn is not None:
            for text in warnings_in(found):
                self._warn(text)
        result: Document = found.document()
        return result


def path_of(resource: Resource, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of a resource, an object or a subresource."""
    start = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    parts = [start, *(("namespaces", namespace) if namespace else ()), resource.plural, name, subresource]
    return "/".join(part for part in parts if part)


def _place_of(resource: Resource, document: Document) -> str:
    """Return the path of the collection in which a new object is created."""
    return path_of(resource, document.get("metadata", {}).get("namespace", ""))


def _refused(response: Response) -> ApiError:
    status = response.document()
    return ApiError(status["code"], status.get("reason", ""), status["message"], status.get("details"))
