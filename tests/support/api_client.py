"""An API server as an administrator sees it who waits for each answer; for tests that run beside real processes.

From a kubeconfig to codes and documents. Every request has a connection of its own, and is sent again while the server
is away or asks for patience, so that faults which are meant for others are no trouble here.
"""

import asyncio
import http.client
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.api.paths import path_of
from kubesched.client.credentials.rest_config import load_rest_config

Document = dict[str, Any]
MERGE_PATCH = "application/merge-patch+json"
SECONDS = 60.0
AGAIN_SECONDS = 0.1
PATIENCE = (429, 500, 503, 504)


class ApiClient:
    """An API server, and who asks it."""

    def __init__(self, kubeconfig: Path) -> None:
        target = load_rest_config(str(kubeconfig))
        self._headers = dict(asyncio.run(_read(target.headers())))
        self._server = urlsplit(target.server)
        self._tls = target.tls() if callable(target.tls) else target.tls

    def ask(
        self, method: str, path: str, document: Any = None, *, form: str = "application/json", **query: str
    ) -> tuple[int, Document]:
        """Return the code and the document of an answer; the request is sent until there is one."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                code, found = self._ask(method, path, document, form, query)
                if code not in PATIENCE or time.monotonic() > deadline:
                    return code, found
            except (OSError, http.client.HTTPException):
                if time.monotonic() > deadline:
                    raise
            time.sleep(AGAIN_SECONDS)

    def _ask(self, method: str, path: str, document: Any, form: str, query: Mapping[str, str]) -> tuple[int, Document]:
        address = (self._server.hostname or "", self._server.port)
        connection: http.client.HTTPConnection
        if self._server.scheme == "https":
            connection = http.client.HTTPSConnection(*address, timeout=SECONDS, context=self._tls)
        else:
            connection = http.client.HTTPConnection(*address, timeout=SECONDS)
        body = None if document is None else json.dumps(document).encode()
        try:
            target = f"{self._server.path}{path}?{urlencode(query)}"
            connection.request(method, target, body, {**self._headers, "Content-Type": form})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text[:1] == b"{" else {"message": text.decode()}
        finally:
            connection.close()

    def ok(
        self, method: str, path: str, document: Any = None, *, form: str = "application/json", **query: str
    ) -> Document:
        """Return the document of an answer that must be a good one."""
        code, found = self.ask(method, path, document, form=form, **query)
        assert code < 300, f"{method} {path}: {code}: {found}"
        return found

    def create(self, obj: ApiObject | Mapping[str, Any]) -> Document:
        """Create an object; return it as the server has it, also if it was created without an answer before."""
        document = document_of(obj) if isinstance(obj, ApiObject) else dict(obj)
        namespace = document["metadata"].get("namespace", "")
        path = path_of(document["kind"], namespace, api_version=document["apiVersion"])
        code, found = self.ask("POST", path, document)
        if found.get("reason") == "AlreadyExists":
            return self.ok("GET", f"{path}/{document['metadata']['name']}")
        assert code < 300, f"{path}: {code}: {found}"
        return found

    def get(self, kind: str, name: str, namespace: str = "default") -> Document | None:
        """Return an object, None if there is none."""
        code, found = self.ask("GET", path_of(kind, namespace, name))
        assert code in (200, 404), f"{kind} {name}: {code}: {found}"
        return found if code == 200 else None

    def all(self, kind: str, namespace: str = "") -> list[Document]:
        """Return all objects of a kind, or those in a namespace."""
        found: list[Document] = self.ok("GET", path_of(kind, namespace))["items"]
        return found

    def change(
        self, kind: str, name: str, patch: Mapping[str, Any], *, namespace: str = "default", subresource: str = ""
    ) -> Document:
        """Change an object by a merge patch."""
        return self.ok("PATCH", path_of(kind, namespace, name, subresource), patch, form=MERGE_PATCH)

    def delete(self, kind: str, name: str, namespace: str = "default", *, at_once: bool = False) -> None:
        """Delete an object, `at_once` without the grace that pods have."""
        options = {"gracePeriodSeconds": 0} if at_once else None
        code, found = self.ask("DELETE", path_of(kind, namespace, name), options)
        assert code in (200, 202, 404), f"{kind} {name}: {code}: {found}"

    def bind(self, pod: str, node: str, namespace: str = "default") -> tuple[int, Document]:
        """Bind a pod to a node, as any client may; return the code and the document of the answer."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod, "namespace": namespace},
            "target": {"kind": "Node", "name": node},
        }
        return self.ask("POST", path_of("Pod", namespace, pod, "binding"), body)


async def _read(headers: Any) -> Mapping[str, str]:
    found: Mapping[str, str] = await headers
    return found


def document_of(obj: ApiObject) -> Document:
    """Return an object as a client would create it: without a UID, and with an image in each container."""
    document: Document = to_builtins(obj)
    document["metadata"].pop("uid", None)
    for container in document.get("spec", {}).get("containers", ()):
        container.setdefault("image", "example/image")
    return document
