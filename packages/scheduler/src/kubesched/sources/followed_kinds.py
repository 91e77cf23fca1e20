"""The kinds that can be watched on a cluster: the scheduler reads them, the server serves them, and RBAC allows it.

From a client to the kinds to watch and, for each other kind, a sentence. Rights are tested by a list of one object
and by a short watch: only get, list and watch are needed.
"""

import asyncio
from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from kubesched.api.paths import path_of, plural_of
from kubesched.client.informers.watched_kinds import ALWAYS, WatchedKind
from kubesched.client.rest import Query, Refused, Rest, Unreachable
from kubesched.errors import KubeschedError
from kubesched.sources.live import OLDER_VERSIONS, ListedKind, listed_kinds, server_version
from kubesched.sources.patience import PASSING, patiently

# attempts of a request before the cluster is followed; afterwards attempts are unlimited
PATIENCE = 6
_NOT_ALLOWED, _NOT_SERVED = 403, 404


class FollowableKinds(NamedTuple):
    """The kinds to watch; and the names of all other kinds, each with the reason why it cannot be read."""

    watched: Sequence[WatchedKind]
    left_out: Sequence[tuple[str, str]]


async def release_and_kinds(rest: Rest, pod_selector: str = "") -> tuple[str, FollowableKinds]:
    """Return the release of the API server, and the kinds that can be watched there; raises KubeschedError."""
    release = await patiently(lambda: server_version(rest), PATIENCE)
    return release, await followable_kinds(rest, pod_selector)


async def followable_kinds(rest: Rest, pod_selector: str = "", custom_kinds: Collection[str] = ()) -> FollowableKinds:
    """Return the kinds that can be watched; raises KubeschedError if pods and nodes cannot.

    `custom_kinds` are kinds that plugins look up, such as `foos.v1.example.com`.
    """
    watched: list[WatchedKind] = []
    left_out: list[tuple[str, str]] = []
    kinds = [kind for kind in listed_kinds(custom_kinds) if kind.struct is not None]
    # pods and nodes first: without them no other kind is tried
    tried = [await _tried(rest, kind, pod_selector) for kind in kinds[: len(ALWAYS)]]
    tried += await asyncio.gather(*(_tried(rest, kind, pod_selector) for kind in kinds[len(ALWAYS) :]))
    for kind, found in zip(kinds, tried, strict=True):
        if isinstance(found, WatchedKind):
            watched.append(found)
        elif found:
            left_out.append((kind.name, found))
    return FollowableKinds(watched, left_out)


async def _tried(rest: Rest, kind: ListedKind, pod_selector: str) -> WatchedKind | str:
    """Return the kind, or why it is left out; an empty text if the kind is optional."""
    query = dict(kind.query)
    if kind.name == "Pod" and pod_selector:
        query["labelSelector"] = pod_selector
    versions = [kind.path]
    if kind.api_version in OLDER_VERSIONS:
        versions.append(path_of(kind.name, api_version=OLDER_VERSIONS[kind.api_version]))
    why = f"the API server does not serve {kind.path.removeprefix('/')}"
    for path in versions:
        try:
            await patiently(partial(_try, rest, path, query), PATIENCE)
        except Refused as refused:
            if refused.code == _NOT_SERVED:
                continue
            if refused.code == _NOT_ALLOWED:
                why = str(refused)
                break
            if kind.name in ALWAYS or refused.code not in PASSING:
                raise
        except Unreachable:
            # nodes and pods could be read, so this kind is retried later
            if kind.name in ALWAYS:
                raise
        assert kind.struct is not None
        return WatchedKind(kind.name, path, kind.struct, query)
    if kind.name in ALWAYS:
        rule = f'{{apiGroups: [""], resources: [{plural_of(kind.name)}], verbs: [get, list, watch]}}'
        raise KubeschedError(f"{why}; without them there is no cluster to follow: add the rule {rule} to a ClusterRole")
    is_optional = "alpha" in kind.api_version or "beta" in kind.api_version
    if is_optional and why.startswith("the API server"):
        return ""
    return why


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


async def _try(rest: Rest, path: str, query: Query) -> None:
    """List one object, and open a watch; raises Refused."""
    body = await rest.get(path, {**query, "limit": "1"})
    try:
        version = msgspec.json.decode(body, type=_List).metadata.resource_version
    except msgspec.MsgspecError:
        version = "0"
    async with rest.stream(path, {**query, "watch": "true", "resourceVersion": version, "timeoutSeconds": "1"}):
        pass
