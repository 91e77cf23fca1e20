"""Get and list, with pages.

From the store to responses. All pages of a list are of one resource version: that of the first page, for as long as
the history reaches back to it.
"""

# upstream: apiserver/pkg/endpoints/handlers/get.go, pkg/storage/continue.go (v1.36)

import posixpath
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from datetime import timedelta

import msgspec

from kubesched_controlplane.api.query_options import ListOptions, list_options
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.api.statuses import ApiError, bad_request, expired, not_found, too_large_version
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.selectors import matcher
from kubesched_controlplane.representation.encoders import encoder_for
from kubesched_controlplane.storage.store import Stored

TOKEN_VERSION = "meta.k8s.io/v1"
TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


# how long a continue token is valid: etcd compacts its history every five minutes
PAGES_LAST = timedelta(minutes=5)
# the version in a token that continues an expired list at the current version
NOW = -1


class Continue(msgspec.Struct, rename={"version": "rv"}):
    """A continue token: the version of the list, the last key of the page, and the time of the first page."""

    version: int = 0
    start: str = ""
    v: str = ""
    since: float = 0.0


class ReadVerbs:
    """Answers get and list."""

    def __init__(self, registry: ResourceRegistry) -> None:
        self._registry = registry

    def get(self, target: Target, request: Request) -> Response:
        """Return an object; raises ApiError 404."""
        encoder = encoder_for(target.resource, request, self._registry.clock)
        stored = self._registry.store.get(target.resource.prefix, target.namespace, target.name)
        if stored is None:
            raise not_found(target.resource, target.name)
        return Response(200, (encoder.encode(stored),))

    def list_objects(self, target: Target, request: Request) -> Response:
        """Return the objects that a request selects."""
        resource, options = target.resource, list_options(request)
        encoder = encoder_for(resource, request, self._registry.clock, listing=True)
        matches = matcher(request, target, self._registry.strategy(resource))
        limit = options.limit
        version, objects = self._moment(resource.prefix, options)
        found = [stored for stored in objects if matches(stored)] if matches is not None else objects
        meta: dict[str, object] = {"resourceVersion": str(version)}
        if limit and len(found) > limit:
            rest = len(found) - limit
            found = found[:limit]
            meta["continue"] = _token(Continue(version, found[-1].key, TOKEN_VERSION, self._since(options)))
            if not (request.option("labelSelector") or request.option("fieldSelector")):
                meta["remainingItemCount"] = rest
        return Response(200, encoder.listed(meta, found))

    def _moment(self, prefix: str, options: ListOptions) -> tuple[int, list[Stored]]:
        """Return the resource version of a list, and its objects from the start of the page on."""
        current, wanted = self._registry.store.version, options.version
        objects = self._registry.store.set_of(prefix)
        if not options.token:
            if wanted > current:
                raise too_large_version(wanted, current)
            if not options.exact:
                return current, objects.in_order()
            if wanted < objects.forgotten:
                raise expired("The resourceVersion for the provided list is too old.")
            return wanted, objects.at(wanted)
        where = _read_token(options.token)
        if wanted:
            raise bad_request("specifying resource version is not allowed when using continue")
        version = current if where.version == NOW else where.version
        if version < objects.forgotten or (where.version != NOW and self._is_over(where)):
            raise expired(TOO_OLD, _token(Continue(NOW, where.start, TOKEN_VERSION)))
        found = objects.at(version)
        return version, found[bisect_right(found, where.start, key=_key) :]

    def _is_over(self, where: Continue) -> bool:
        """Return whether a continue token has expired."""
        return self._registry.clock().timestamp() - where.since > PAGES_LAST.total_seconds()

    def _since(self, options: ListOptions) -> float:
        """Return the time of the first page of a list, in seconds."""
        where = _read_token(options.token) if options.token else None
        return self._registry.clock().timestamp() if where is None or where.version == NOW else where.since


def _key(stored: Stored) -> str:
    return stored.key


def _token(where: Continue) -> str:
    return urlsafe_b64encode(msgspec.json.encode(where)).decode().rstrip("=")


def _read_token(token: str) -> Continue:
    try:
        text = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        where = msgspec.json.decode(text, type=Continue)
    except (ValueError, msgspec.MsgspecError) as error:
        raise _no_token(f": {error}") from None
    if where.v != TOKEN_VERSION:
        raise _no_token(f": server does not recognize this encoded version {where.v}")
    if not where.start or not where.version:
        raise _no_token(f": incorrect encoded start (version {TOKEN_VERSION})")
    # a key with parts such as ".." was not given by any server
    start = "/" + where.start.removeprefix("/")
    if posixpath.normpath(start) != start:
        raise _no_token("")
    return where


def _no_token(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid{why}")
