"""OpenAPI: the kinds and their fields, for clients that merge, validate and explain objects.

    shapes, descriptions ──definitions──┬──▶ second edition: one document, JSON or Protocol Buffers
                                        └──▶ third edition: an index, and a document for each group and version

From the catalog and the shapes of kinds to documents, which are made at the first request, and again when the catalog
changes.
"""

# upstream: apiserver/pkg/server/routes/openapi.go, kube-openapi/pkg/{handler,handler3,builder3} (v1.36)

from hashlib import sha512

import msgspec

from kubesched_controlplane.api.requests import Request, Response, answer
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.api.statuses import method_not_allowed, not_acceptable
from kubesched_controlplane.representation.negotiation import JSON, accepts
from kubesched_controlplane.representation.openapi.documents import second_edition, third_edition
from kubesched_controlplane.representation.openapi.protobuf_writer import in_protobuf
from kubesched_controlplane.schema import Schemas

# the media type in Accept headers, which is malformed, and that of the response
ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_ANY = (JSON, "application/*", "*/*")
_SECOND, _THIRD = "/openapi/v2", "/openapi/v3"


class OpenApi:
    """Answers requests under /openapi."""

    def __init__(self, catalog: Catalog, schemas: Schemas) -> None:
        self._catalog = catalog
        self._schemas = schemas
        self._resources: tuple[Resource, ...] = ()
        # by path and media type: the document, and its ETag
        self._made: dict[tuple[str, str], tuple[bytes, str]] = {}

    def answer(self, request: Request) -> Response | None:
        """Return the response, None if the path does not exist."""
        path = request.path.removesuffix("/")
        if self._catalog.resources is not self._resources:
            self._resources = self._catalog.resources
            self._made.clear()
        place = path.removeprefix(f"{_THIRD}/")
        if path not in (_SECOND, _THIRD) and (place == path or place not in self._places()):
            return None
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        if path == _THIRD:
            return answer({"paths": {place: {"serverRelativeURL": self._url(place)} for place in self._places()}})
        form = _form(request) if path == _SECOND else JSON
        return _tagged(request, form, *self._document(path, form))

    def _places(self) -> dict[str, tuple[str, str]]:
        """Return the group and version of each OpenAPI v3 document, by path."""
        return {
            (f"apis/{group}/{version}" if group else f"api/{version}"): (group, version)
            for group, versions in self._catalog.versions().items()
            for version in versions
        }

    def _url(self, place: str) -> str:
        """Return the URL of an OpenAPI v3 document, with its hash."""
        path = f"{_THIRD}/{place}"
        return f"{path}?hash={self._document(path, JSON)[1]}"

    def _document(self, path: str, form: str) -> tuple[bytes, str]:
        found = self._made.get((path, form))
        if found is None:
            if path == _SECOND:
                document = second_edition(self._resources, self._schemas)
                body = msgspec.json.encode(document) if form == JSON else in_protobuf(document)
            else:
                group, version = self._places()[path.removeprefix(f"{_THIRD}/")]
                body = msgspec.json.encode(third_edition(self._catalog.in_version(group, version), self._schemas))
            found = self._made[path, form] = body, sha512(body).hexdigest().upper()
        return found


def _form(request: Request) -> str:
    if accepts(request, *_ANY):
        return JSON
    if accepts(request, PROTOBUF, ASKED):
        return PROTOBUF
    raise not_acceptable((JSON, PROTOBUF))


def _tagged(request: Request, form: str, body: bytes, tag: str) -> Response:
    """Return a document, or 304 if the client has it already."""
    headers = {"ETag": f'"{tag}"', "Vary": "Accept"}
    if request.option("hash") == tag:
        headers["Cache-Control"] = "public, immutable"
    if tag in request.headers.get("if-none-match", ""):
        return Response(304, (), headers, form)
    return Response(200, (body,), headers, form)
