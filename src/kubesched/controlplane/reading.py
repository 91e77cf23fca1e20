"""Get and list: objects as they are, whole or in pages.

From the store to answers. A list that is read in pages is one moment: the pages after the first come from what was
there when the first was read, for as long as that is kept.
"""

# upstream: apiserver/pkg/endpoints/handlers/get.go, pkg/storage/continue.go (v1.36)

from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from kubesched.controlplane.forms import form_of
from kubesched.controlplane.requests import Request, Response, Target
from kubesched.controlplane.selecting import matcher
from kubesched.controlplane.services import Services
from kubesched.controlplane.statuses import bad_request, expired, not_found, too_large_version
from kubesched.controlplane.store import Stored

# how many moments are kept for the pages that follow
MOST_MOMENTS = 32
TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter."
)


class Continue(msgspec.Struct, rename={"version": "rv", "start": "start"}):
    """Where the next page begins."""

    version: int
    start: str
    v: str = "meta.k8s.io/v1"


class Reading:
    """Answers get and list."""

    def __init__(self, services: Services) -> None:
        self._services = services
        # (store, version) -> the objects of that moment, in order
        self._moments: OrderedDict[tuple[str, int], list[Stored]] = OrderedDict()

    def get(self, target: Target) -> Response:
        """Return one object."""
        stored = self._services.store.get(target.resource.store, target.namespace, target.name)
        if stored is None:
            raise not_found(target.resource, target.name)
        return Response(200, (form_of(target.resource).encode(stored),))

    def list_objects(self, target: Target, request: Request) -> Response:
        """Return the objects that a request selects."""
        resource = target.resource
        matches = matcher(request, target, self._services.strategy(resource))
        limit = request.whole("limit") or 0
        if limit < 0:
            raise bad_request("limit: Invalid value: must be greater than or equal to 0")
        version, objects = self._moment(resource.store, request)
        found = [stored for stored in objects if matches(stored)] if matches is not None else objects
        meta: dict[str, object] = {"resourceVersion": str(version)}
        if limit and len(found) > limit:
            rest = len(found) - limit
            found = found[:limit]
            meta["continue"] = _token(Continue(version, found[-1].key))
            if not (request.option("labelSelector") or request.option("fieldSelector")):
                meta["remainingItemCount"] = rest
            self._keep(resource.store, version)
        form = form_of(resource)
        head = {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": meta}
        return Response(200, _joined(msgspec.json.encode(head), [form.encode(stored) for stored in found]))

    def _moment(self, store: str, request: Request) -> tuple[int, list[Stored]]:
        """Return the version of a list, and its objects from where the page begins."""
        current = self._services.store.version
        token = request.option("continue")
        wanted = version_option(request)
        match = request.option("resourceVersionMatch")
        _check_match(match, request, token)
        if not token:
            if wanted > current:
                raise too_large_version(wanted, current)
            if match == "Exact" and wanted != current and self._changed_since(store, wanted):
                raise expired("The resourceVersion for the provided list is too old.")
            objects = self._services.store.set_of(store).in_order()
            return (wanted if match == "Exact" else current), objects
        if wanted:
            raise bad_request("specifying resource version is not allowed when using continue")
        where = _read_token(token)
        kept = self._moments.get((store, where.version))
        if kept is None:
            if self._changed_since(store, where.version):
                raise expired(TOO_OLD)
            kept = self._services.store.set_of(store).in_order()
        keys = [stored.key for stored in kept]
        return where.version, kept[bisect_right(keys, where.start) :]

    def _changed_since(self, store: str, version: int) -> bool:
        objects = self._services.store.set_of(store)
        return objects.forgotten > version or bool(objects.since(version))

    def _keep(self, store: str, version: int) -> None:
        if (store, version) not in self._moments:
            self._moments[store, version] = self._services.store.set_of(store).in_order()
            while len(self._moments) > MOST_MOMENTS:
                self._moments.popitem(last=False)


def version_option(request: Request) -> int:
    """Return the resource version that a request names, 0 if none."""
    text = request.option("resourceVersion")
    if not text:
        return 0
    if not text.isascii() or not text.isdigit():
        raise bad_request(f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')
    return int(text)


def _check_match(match: str, request: Request, token: str) -> None:
    if not match:
        return
    if token:
        raise bad_request("resourceVersionMatch is forbidden when continue is provided")
    if match not in ("Exact", "NotOlderThan"):
        raise bad_request(
            f'resourceVersionMatch: Unsupported value: "{match}": supported values: "Exact", "NotOlderThan"'
        )
    if not request.option("resourceVersion"):
        raise bad_request("resourceVersionMatch is forbidden unless resourceVersion is provided")
    if match == "Exact" and request.option("resourceVersion") == "0":
        raise bad_request('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')


def _token(where: Continue) -> str:
    return urlsafe_b64encode(msgspec.json.encode(where)).decode().rstrip("=")


def _read_token(token: str) -> Continue:
    try:
        return msgspec.json.decode(urlsafe_b64decode(token + "=" * (-len(token) % 4)), type=Continue)
    except (ValueError, msgspec.MsgspecError):
        raise bad_request(f"continue key is not valid: encoded continue token {token!r}") from None


def _joined(head: bytes, items: Sequence[bytes]) -> list[bytes]:
    """Return a list's JSON in chunks, its items as they are."""
    chunks = [head[:-1], b',"items":[']
    for number in range(0, len(items), 500):
        if number:
            chunks.append(b",")
        chunks.append(b",".join(items[number : number + 500]))
    chunks.append(b"]}")
    return chunks
