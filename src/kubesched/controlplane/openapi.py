"""OpenAPI, as little as kubectl needs: which kinds there are, and that the server validates fields itself.

From the catalog to documents. A kind has no fields here: clients that would check or merge by schema leave it to the
server, or go by the types they are built with. The third edition is JSON, group by group; the second is one document,
which kubectl reads as Protocol Buffers when it is given a `List`.
"""

# upstream: kubectl/pkg/validation/schema.go, cli-runtime/pkg/resource/query_param_verifier_v3.go (v1.36);
# field numbers: gnostic-models/openapiv2/OpenAPIv2.proto

from kubesched.controlplane.negotiating import accepts
from kubesched.controlplane.requests import Request, Response, answer
from kubesched.controlplane.resources import Catalog, Resource
from kubesched.controlplane.statuses import not_acceptable
from kubesched.controlplane.store import Document

# as clients ask for it, which is no well-formed media type, and as it is answered
ASKED = ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf",)
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_JSON = "application/json"
_INFO = {"title": "Kubernetes", "version": "v1.36.4"}
_WHICH_KIND = "x-kubernetes-group-version-kind"
_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "force")


class OpenApi:
    """Answers requests under /openapi."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def answer(self, request: Request) -> Response | None:
        """Return the answer, None if a path leads nowhere."""
        path = "/" + request.path.strip("/")
        if path == "/openapi/v2":
            return self._second(request)
        if path == "/openapi/v3":
            paths = {place: {"serverRelativeURL": f"/openapi/v3/{place}"} for place in self._places()}
            return answer({"paths": paths})
        found = self._places().get(path.removeprefix("/openapi/v3/"))
        return None if found is None else answer(_third(self._catalog.in_version(*found)))

    def _places(self) -> dict[str, tuple[str, str]]:
        """Return group and version of each document."""
        return {
            (f"apis/{group}/{version}" if group else f"api/{version}"): (group, version)
            for group, versions in self._catalog.versions().items()
            for version in versions
        }

    def _second(self, request: Request) -> Response:
        if not accepts(request, _JSON, "application/*", "*/*"):
            if not accepts(request, PROTOBUF, *ASKED):
                raise not_acceptable((_JSON, PROTOBUF))
            return Response(200, (_protobuf(self._catalog.resources),), content_type=PROTOBUF)
        definitions = {_name(each): {_WHICH_KIND: [_kind(each)]} for each in self._catalog.resources}
        return answer({"swagger": "2.0", "info": _INFO, "paths": {}, "definitions": definitions})


def _third(resources: list[Resource]) -> Document:
    paths = {}
    for each in resources:
        start = f"/apis/{each.group}/{each.version}" if each.group else f"/api/{each.version}"
        space = "/namespaces/{namespace}" if each.namespaced else ""
        parameters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in _PARAMETERS]
        # kubectl asks by the PATCH of a kind, also of kinds that cannot be patched
        patch = {"parameters": parameters, "responses": {}, _WHICH_KIND: _kind(each)}
        paths[f"{start}{space}/{each.plural}/{{name}}"] = {"patch": patch}
    schemas = {_name(each): {"type": "object", _WHICH_KIND: [_kind(each)]} for each in resources}
    return {"openapi": "3.0.0", "info": _INFO, "paths": paths, "components": {"schemas": schemas}}


def _kind(resource: Resource) -> Document:
    return {"group": resource.group, "kind": resource.kind, "version": resource.version}


def _name(resource: Resource) -> str:
    return f"{resource.group or 'core'}.{resource.version}.{resource.kind}"


# -- Protocol Buffers


def _protobuf(resources: tuple[Resource, ...]) -> bytes:
    """Return the second edition: a definition without fields for each kind."""
    definitions = b"".join(_field(1, _named(_name(each), _definition(each))) for each in resources)
    info = _field(1, _INFO["title"].encode()) + _field(2, _INFO["version"].encode())
    return _field(1, b"2.0") + _field(2, info) + _field(8, b"") + _field(9, definitions)


def _definition(resource: Resource) -> bytes:
    text = f'- {{group: "{resource.group}", kind: "{resource.kind}", version: "{resource.version}"}}\n'
    return _field(31, _named(_WHICH_KIND, _field(2, text.encode())))


def _named(name: str, value: bytes) -> bytes:
    return _field(1, name.encode()) + _field(2, value)


def _field(number: int, content: bytes) -> bytes:
    """Return a field of bytes, its number and length before it."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)
