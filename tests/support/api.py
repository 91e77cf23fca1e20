"""Asking an API server in process, the way a test wants to say it.

From a method, a path and a document to a code and a document; and from a watch to its events.
"""

from typing import Any

import msgspec

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response, User
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.server.verbs.watching import Watch

Document = dict[str, Any]


class Asking:
    """An API server and who asks it."""

    def __init__(self, server: ApiServer | None = None, user: User = ADMINISTRATOR) -> None:
        self.server = server or ApiServer(access=always_allow, seed=1)
        self.user = user

    def raw(self, method: str, path: str, body: bytes = b"", form: str = "application/json", **query: str) -> Response:
        """Return the answer to a request with any body."""
        headers = {"content-type": form}
        found = self.server.handle(
            Request(method, path, {name: [value] for name, value in query.items()}, headers, body, self.user)
        )
        assert isinstance(found, Response), "this is a watch"
        return found

    def ask(
        self, method: str, path: str, document: Any = None, form: str = "application/json", **query: str
    ) -> tuple[int, Document]:
        """Return the code and the document of an answer."""
        body = b"" if document is None else msgspec.json.encode(document)
        response = self.raw(method, path, body, form, **query)
        return response.code, response.document()

    def ok(
        self, method: str, path: str, document: Any = None, form: str = "application/json", **query: str
    ) -> Document:
        """Return the document of an answer that must be a good one."""
        code, found = self.ask(method, path, document, form, **query)
        assert code < 300, found
        return found

    def refused(
        self, method: str, path: str, document: Any = None, form: str = "application/json", **query: str
    ) -> tuple[int, str, str]:
        """Return code, reason and message of a refusal."""
        code, status = self.ask(method, path, document, form, **query)
        assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", code), status
        return code, status.get("reason", ""), status["message"]

    def watch(self, path: str, **query: str) -> Watch:
        """Return a watch."""
        options = {name: [value] for name, value in {"watch": "true", **query}.items()}
        found = self.server.handle(Request("GET", path, options, {}, b"", self.user))
        assert isinstance(found, Watch), found
        return found


def events_of(watch: Watch) -> list[tuple[str, Document]]:
    """Return what a watch has to say, as types and objects."""
    events = [msgspec.json.decode(line) for line in watch.take().splitlines()]
    return [(event["type"], event["object"]) for event in events]


def seen(watch: Watch) -> list[tuple[str, str]]:
    """Return what a watch has to say, as types and names."""
    return [(kind, obj.get("metadata", {}).get("name", "")) for kind, obj in events_of(watch)]
