"""Requests and responses, and the target of a request.

From HTTP (or a caller in the same process) to verbs. A request is parsed once into a `Target`: the verb of the API, the
resource, the namespace, the name, the subresource.
"""

# upstream: apiserver/pkg/endpoints/request/requestinfo.go (v1.36)

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kubesched.api.go_text import quote
from kubesched_controlplane.api.attempts import Attempt
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request, method_not_allowed, no_such_path

_DIGITS, _SIGNED_DIGITS = re.compile("[0-9]+"), re.compile("[+-]?[0-9]+")


class User(msgspec.Struct, frozen=True):
    """The user of a request."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: dict[str, tuple[str, ...]] = {}


ADMINISTRATOR = User("kubernetes-admin", ("system:masters", "system:authenticated"))
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
# the server authenticates the request by its headers
UNAUTHENTICATED = User("")


class Request(msgspec.Struct, frozen=True):
    """A request; header names are in lower case, a query maps each name to all its values.

    `warnings` collects the Warning headers of the response.
    """

    method: str
    path: str
    query: Mapping[str, Sequence[str]] = {}
    headers: Mapping[str, str] = {}
    body: bytes = b""
    user: User = UNAUTHENTICATED
    # the object was admitted by the cluster that it comes from; set by the loader of manifests alone
    imported: bool = False
    warnings: list[str] = []
    # the webhook replies so far, if the request had to wait for webhooks
    attempt: Attempt | None = None

    def option(self, name: str) -> str:
        """Return the first value of a query parameter, or an empty text."""
        values = self.query.get(name)
        return values[0] if values else ""

    def flag(self, name: str) -> bool:
        """Return a query parameter as a boolean; as in Kubernetes an empty value is true."""
        values = self.query.get(name)
        return values is not None and len(values) > 0 and values[0].lower() not in ("false", "0")

    def integer(self, name: str) -> int | None:
        """Return a query parameter as a whole number, None if it is not given."""
        text = self.option(name)
        if not text:
            return None
        try:
            return parse_whole(text)
        except ValueError as error:
            raise bad_request(str(error)) from None


def parse_whole(text: str, unsigned_limit: int = 0) -> int:
    """Parse a whole number as Go does, without a sign if a limit is given; raises ValueError with Go's message."""
    function, pattern = ("ParseUint", _DIGITS) if unsigned_limit else ("ParseInt", _SIGNED_DIGITS)
    if not pattern.fullmatch(text):
        raise ValueError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("+-0")
    # out of range anyway; Python refuses to parse numbers of thousands of digits
    number = int(text) if len(digits) < 25 else None
    if number is None or not (0 <= number <= unsigned_limit if unsigned_limit else -(2**63) <= number < 2**63):
        raise ValueError(f"strconv.{function}: parsing {quote(text)}: value out of range")
    return number


class Response(msgspec.Struct):
    """A response; a long list has several chunks."""

    code: int
    chunks: Sequence[bytes]
    headers: dict[str, str] = {}
    content_type: str = "application/json"

    def document(self) -> Any:
        """Return the decoded body."""
        return msgspec.json.decode(b"".join(self.chunks))


def answer(document: Any, code: int = 200) -> Response:
    """Return a response with a document as its body."""
    return Response(code, (msgspec.json.encode(document),))


def refusal(error: ApiError) -> Response:
    """Return a response with the Status of an error."""
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    return Response(error.code, (error.body(),), headers)


class Target(msgspec.Struct, frozen=True):
    """The verb of a request and the object, collection or subresource it applies to."""

    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


# subresources of namespaces: they follow `namespaces/NAME` and are no resources in it
_OF_NAMESPACES = ("status", "finalize")
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "HEAD": "get"}


def target_of(request: Request, catalog: Catalog) -> Target | None:
    """Return the target of a request, None for a non-resource path; raises ApiError for paths that do not exist."""
    parts = request.path.removeprefix("/").removesuffix("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    if not all(rest) or any(part in (".", "..") for part in rest):
        raise no_such_path()
    watching = rest[0] == "watch" and len(rest) > 1
    if watching:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _OF_NAMESPACES:
        namespace, rest = rest[1], rest[2:]
    resource = catalog.find(group, version, rest[0])
    # the rest of a proxy's path is for the proxied server
    if resource is None or (len(rest) > 3 and rest[2] != "proxy"):
        raise no_such_path()
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if namespace and not resource.namespaced:
        raise no_such_path()
    if resource.namespaced and not namespace and name:
        raise no_such_path()
    verb = _verb(request, resource, name, subresource, watching)
    if resource.namespaced and not namespace and verb not in ("list", "watch"):
        raise method_not_allowed()
    return Target(verb, resource, namespace, name, subresource)


def _verb(request: Request, resource: Resource, name: str, subresource: str, watching: bool) -> str:
    try:
        verb = _VERBS[request.method]
    except KeyError:
        raise method_not_allowed() from None
    if subresource:
        allowed = resource.subresources.get(subresource)
        if allowed is None:
            raise no_such_path()
    else:
        allowed = resource.verbs
        if not name and verb == "get":
            verb = "list"
        elif not name and verb == "delete":
            verb = "deletecollection"
        if (verb == "list" and request.flag("watch")) or (verb in ("get", "list") and watching):
            verb = "watch"
        if verb == "create" and name and resource.plural != "bindings":
            raise method_not_allowed()
        if verb in ("update", "patch") and not name:
            raise method_not_allowed()
    if verb not in allowed:
        raise method_not_allowed()
    return verb
