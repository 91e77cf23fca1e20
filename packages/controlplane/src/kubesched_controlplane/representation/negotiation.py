"""Content negotiation: the media types of bodies and of responses.

From a request's headers to a request with a JSON body, and to the accepted representation; or to an error 406 or 415.
Bodies may be JSON, YAML or Kubernetes' Protocol Buffers, responses are JSON.
"""

# upstream: apiserver/pkg/endpoints/handlers/negotiation/negotiate.go, pkg/endpoints/handlers/rest.go
# (AllowsMediaTypeTransform) (v1.36)

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import msgspec

from kubesched.config.document import DocumentError, parse_yaml
from kubesched_controlplane.api.media_types import APPLY_PATCH
from kubesched_controlplane.api.media_types import PATCHES as PATCHES
from kubesched_controlplane.api.requests import Request
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request, not_acceptable, unsupported_media_type
from kubesched_controlplane.representation.protobuf import ProtobufError, from_protobuf

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
OFFERED = (JSON,)
# of a YAML body, which is parsed slowly while other requests wait
MOST_YAML_NODES = 50_000
UNDERSTOOD = (JSON, YAML, PROTOBUF)
# differs (D-127): the reference also answers in YAML and Protocol Buffers
_GOOD_ENOUGH = (JSON, "application/*", "*/*")
_META = "meta.k8s.io"
TABLE, METADATA, METADATA_LIST = "Table", "PartialObjectMetadata", "PartialObjectMetadataList"


class Clause(NamedTuple):
    """A media type that a client accepts."""

    kind: str
    parameters: Mapping[str, str]

    def wanted(self) -> "Representation | None":
        """Return the representation in the parameters, None for the plain object."""
        if not self.parameters.keys() & {"as", "g", "v"}:
            return None
        return Representation(*(self.parameters.get(name, "") for name in ("g", "v", "as")))


class Representation(NamedTuple):
    """A kind into which objects are transformed for a client: Table, PartialObjectMetadata."""

    group: str = ""
    version: str = ""
    kind: str = ""


PLAIN = Representation()
# objects without managedFields, for kubesched's own clients
WITHOUT_MANAGED_FIELDS = Representation("kubesched.io", "v1", "Unowned")
ACCEPT_WITHOUT_MANAGED_FIELDS = f"{JSON};as=Unowned;v=v1;g=kubesched.io,{JSON}"
_KINDS = (TABLE, METADATA, METADATA_LIST)
_FORMS = {
    WITHOUT_MANAGED_FIELDS,
    *(Representation(_META, version, kind) for version in ("v1", "v1beta1") for kind in _KINDS),
}


def requested_representation(request: Request) -> Representation:
    """Return the first representation in the Accept header that is supported; raises ApiError 406 if none is."""
    return _wanted_form(request.headers.get("accept", ""))


@lru_cache(maxsize=256)
def _wanted_form(accept: str) -> Representation:
    for clause in clauses(accept):
        if clause.kind not in _GOOD_ENOUGH or clause.parameters.get("stream", "watch") != "watch":
            continue
        wanted = clause.wanted()
        if wanted is None:
            return PLAIN
        if wanted in _FORMS:
            return wanted
    if accept:
        raise not_acceptable(OFFERED)
    return PLAIN


def check_accepts_json(request: Request) -> None:
    """Raise ApiError 406 unless a client accepts JSON."""
    if not accepts(request, *_GOOD_ENOUGH):
        raise not_acceptable(OFFERED)


def check_takes_plain(request: Request) -> None:
    """Raise ApiError 406 if a client accepts nothing but tables, of an object that has none."""
    if not all(
        clause.wanted() is not None and clause.wanted() != WITHOUT_MANAGED_FIELDS
        for clause in clauses(_accept(request))
    ):
        return
    raise not_acceptable(OFFERED)


def _accept(request: Request) -> str:
    return request.headers.get("accept") or "*/*"


def in_json(request: Request, resource: Resource) -> Request:
    """Convert the body of a request to JSON; raises ApiError 415 for an unsupported media type."""
    kind = _kind(request.headers.get("content-type", ""))
    if request.method == "PATCH":
        if kind not in (*PATCHES, APPLY_PATCH):
            raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
        if kind not in (*resource.patch_types, APPLY_PATCH):
            raise unsupported_media_type([*resource.patch_types, APPLY_PATCH])
        return request
    if kind in ("", JSON) or not request.body or request.method not in ("POST", "PUT", "DELETE"):
        return request
    if kind not in UNDERSTOOD:
        raise unsupported_media_type(UNDERSTOOD)
    try:
        body = from_protobuf(request.body, resource) if kind == PROTOBUF else _yaml_in_json(request.body)
    except (ProtobufError, DocumentError) as error:
        raise bad_request(f"the object provided is unrecognized (must be of type {resource.kind}): {error}") from None
    headers = {**{name.lower(): value for name, value in request.headers.items()}, "content-type": JSON}
    return msgspec.structs.replace(request, body=body, headers=headers)


def _yaml_in_json(body: bytes) -> bytes:
    return msgspec.json.encode(parse_yaml(body, MOST_YAML_NODES))


def accepts(request: Request, *forms: str) -> bool:
    """Return whether a client accepts one of these media types; without an Accept header it accepts any."""
    accept = request.headers.get("accept", "")
    return not accept or any(clause.kind in forms for clause in clauses(accept))


@lru_cache(maxsize=256)
def clauses(accept: str) -> tuple[Clause, ...]:
    """Return the clauses of an Accept header, by descending quality."""
    found = []
    for text in accept.split(","):
        parameters = {}
        for parameter in text.split(";")[1:]:
            name, _, value = parameter.partition("=")
            parameters[name.strip().lower()] = value.strip().strip('"')
        found.append(Clause(_kind(text), parameters))
    return tuple(sorted(found, key=_quality, reverse=True))


def _quality(clause: Clause) -> float:
    try:
        return float(clause.parameters.get("q", "1"))
    except ValueError:
        return 0.0


def _kind(entry: str) -> str:
    """Return a media type without its parameters."""
    return entry.partition(";")[0].strip().lower()
