"""A live cluster for the page: reflectors report its objects, and a probe reports whether the API server answers.

From an API server to reports, with get, list and watch requests only. If a server does not answer, the kubeconfig is
read again to find its new address.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kubesched import __version__
from kubesched.api.meta import ApiObject
from kubesched.client.informers.reflector import Reflector
from kubesched.client.informers.server_incarnation import IncarnationTracker
from kubesched.client.informers.watched_kinds import WatchedKind
from kubesched.client.rest import Refused, RestClient, RestConfig, Unreachable
from kubesched.common.notes import Note
from kubesched.errors import KubeschedError
from kubesched.sources.custom_kinds import custom_kinds_in
from kubesched.sources.followed_kinds import followable_kinds
from kubesched_lab.page.shown.shown_cluster import LOST, THERE, ShownCluster

PROBE_SECONDS = 2.0
PROBE_PATH = "/version"
# a probe that takes longer has failed
PATIENCE_SECONDS = 5.0
TOO_MANY, SERVER_ERRORS = 429, 500


async def follow(shown: ShownCluster, target: RestConfig, find: Callable[[], RestConfig], note: Note) -> None:
    """Keep a shown cluster up to date until cancelled; `find` returns the present address if the server does not
    answer.
    """
    while True:
        rest = _client(target)
        following = asyncio.create_task(_follow(shown, rest, note))
        probing = asyncio.create_task(_probe(shown, rest, find))
        try:
            await asyncio.wait({following, probing}, return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                following.result()
            target = probing.result()
        finally:
            await _end(following, probing)
            await rest.close()
        # the cluster was restarted on another port
        note(f"the cluster has moved to {target.server}")
        shown.model.source = replace(shown.model.source, server=target)


async def _follow(shown: ShownCluster, rest: RestClient, note: Note) -> None:
    """Report the objects of a server, and their changes."""
    tasks: list[asyncio.Task[Any]] = []
    try:
        kinds = await _kinds(rest, custom_kinds_in(shown.model.engine.profiles, shown.model.loaded.gates))
        server = IncarnationTracker(rest, note)
        reflectors = {
            kind.name: Reflector(rest, kind.path, kind.kind, shown, query=kind.query, note=note, server=server)
            for kind in kinds
        }
        tasks += [asyncio.create_task(each.run()) for each in reflectors.values()]
        await asyncio.gather(*(each.synced.wait() for each in reflectors.values()))
        _drop_unlisted(shown, reflectors)
        await asyncio.gather(*tasks)
    finally:
        await _end(*tasks)


async def _end(*tasks: "asyncio.Task[Any]") -> None:
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)


def _client(target: RestConfig) -> RestClient:
    return RestClient(target, f"kubesched/{__version__}", timeout_seconds=PATIENCE_SECONDS)


async def _kinds(rest: RestClient, custom_kinds: Collection[str]) -> Sequence[WatchedKind]:
    """Return the kinds to watch, including kinds that plugins look up; wait while the server fails."""
    while True:
        try:
            return (await followable_kinds(rest, custom_kinds=custom_kinds)).watched
        except Unreachable:
            await asyncio.sleep(PROBE_SECONDS)
        except Refused as refused:
            # the error of a starting server, or of a proxy before it
            if refused.code != TOO_MANY and refused.code < SERVER_ERRORS:
                raise
            await asyncio.sleep(PROBE_SECONDS)


def _drop_unlisted(shown: ShownCluster, reflectors: Mapping[str, Reflector[Any]]) -> None:
    """Drop objects that were read before the lists and are in none of them."""
    model = shown.model
    pods, nodes = reflectors["Pod"].objects, reflectors["Node"].objects
    gone: list[ApiObject] = [pod.pod for name, pod in model.pods.items() if name not in pods]
    gone += [model.node(name) for name in model.node_names() if name not in nodes]
    for kind, reflector in reflectors.items():
        gone += [obj for obj in model.cluster.objects.named(kind) if obj.full_name not in reflector.objects]
    for obj in gone:
        shown.drop(obj)


async def _probe(shown: ShownCluster, rest: RestClient, find: Callable[[], RestConfig]) -> RestConfig:
    """Report whether the API server answers; return the new address once the cluster answers at another one."""
    while True:
        why = await _why_silent(rest)
        if why:
            shown.report_source(LOST, why)
            found = await _elsewhere(rest, find)
            if found is not None:
                return found
        else:
            shown.report_source(THERE)
        await asyncio.sleep(PROBE_SECONDS)


async def _why_silent(rest: RestClient) -> str:
    """Return why a server does not answer, an empty text if it answers, even with a refusal."""
    try:
        await rest.get(PROBE_PATH)
    except Unreachable as error:
        return str(error)
    except Refused:
        pass
    return ""


async def _elsewhere(rest: RestClient, find: Callable[[], RestConfig]) -> RestConfig | None:
    """Return the new address of the cluster, None if it does not answer there or answers here again."""
    try:
        # in a thread: it reads files
        target = await asyncio.to_thread(find)
    except KubeschedError:
        return None
    there = _client(target)
    try:
        if await _why_silent(there) or not await _why_silent(rest):
            return None
    finally:
        await there.close()
    return target
