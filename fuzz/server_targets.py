"""Targets of the embedded API server: bodies, patches and manifests of any kind."""

import tempfile
from collections.abc import Callable
from functools import cache

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.loading.loader import load
from kubesched_controlplane.server.catalog import RESOURCES
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient, path_of

_BODIES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
_NAME = "fuzzed"
_PROTOBUF = b"k8s\x00"


def a_server() -> ApiServer:
    """Return a server with nothing of interest on it."""
    server = ApiServer(access=always_allow)
    bootstrap(LocalClient(server, ADMINISTRATOR))
    return server


@cache
def _server() -> ApiServer:
    return a_server()


def _ask(method: str, path: str, content_type: str, body: bytes) -> int:
    query = {"fieldManager": ["fuzz"], "force": ["true"]} if content_type == _PATCHES[3] else {}
    headers = {"content-type": content_type, "user-agent": "fuzz"}
    found = _server().handle(Request(method, path, query, headers, body))
    assert isinstance(found, Response)
    assert found.code < 500, f"{method} {path}: {found.document()}"
    return found.code


def bodies(data: bytes) -> None:
    """A new object of any kind, in any form, is created or refused; never a 500."""
    if len(data) < 2:
        return
    resource = RESOURCES[data[0] % len(RESOURCES)]
    form = _BODIES[data[1] % len(_BODIES)]
    body = (_PROTOBUF if form == _BODIES[2] else b"") + data[2:]
    path = path_of(resource, "default" if resource.namespaced else "")
    if "create" in resource.verbs and _ask("POST", path, form, body) == 201 and "deletecollection" in resource.verbs:
        _ask("DELETE", path, "application/json", b"")


def patches(data: bytes) -> None:
    """A patch of any sort changes an object or is refused; never a 500."""
    if not data:
        return
    server = _server()
    pods = server.registry.catalog.find("", "v1", "pods")
    assert pods is not None
    if server.registry.store.get("pods", "default", _NAME) is None:
        spec = {"containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}]}]}
        meta = {"name": _NAME, "namespace": "default", "labels": {"a": "b"}}
        document = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        LocalClient(server, ADMINISTRATOR).create(pods, document)
    _ask("PATCH", f"/api/v1/namespaces/default/pods/{_NAME}", _PATCHES[data[0] % len(_PATCHES)], data[1:])


def manifests(data: bytes) -> None:
    """A manifest is loaded, or every problem with it is a sentence."""
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        file.write(data)
        file.flush()
        report = load(a_server(), [file.name])
    assert all(report.problems)


TARGETS: tuple[Callable[[bytes], None], ...] = (bodies, patches, manifests)
