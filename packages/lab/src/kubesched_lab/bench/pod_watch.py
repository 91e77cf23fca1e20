"""Follows the pods of a cluster by a watch.

From lines of a watch to reports for a `PodBook`. Times are from the clock of this process.
"""

import asyncio
import time

import msgspec

from kubesched.client.rest import RestClient, Unreachable
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.pod_book import PodBook

WATCH_SECONDS = "3600"


class _Condition(msgspec.Struct, frozen=True):
    type: str = ""


class _Metadata(msgspec.Struct, rename="camel", frozen=True):
    name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}
    resource_version: str = ""


class _Spec(msgspec.Struct, rename="camel", frozen=True):
    node_name: str = ""


class _Status(msgspec.Struct, frozen=True):
    conditions: list[_Condition] | None = None


class _WatchedPod(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status | str = _Status()
    # fields of a Status, when the watch fails
    message: str = ""


class _Event(msgspec.Struct):
    type: str
    object: _WatchedPod


async def present(rest: RestClient) -> str:
    """Return the version of the present list of pods."""
    listed = msgspec.json.decode(await rest.get("/api/v1/pods", {"limit": "1"}))
    return str(listed["metadata"]["resourceVersion"])


async def follow_pods(rest: RestClient, book: PodBook, version: str) -> None:
    """Report changes of pods after a version to a book, until cancelled; raises BenchError if the watch is refused."""
    decoder = msgspec.json.Decoder(_Event)
    while True:
        query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS}
        try:
            async with rest.stream("/api/v1/pods", query) as stream:
                rest_of_line = b""
                async for piece in stream.iter_any():
                    *lines, rest_of_line = (rest_of_line + piece).split(b"\n")
                    for line in lines:
                        if line:
                            version = _report_event(decoder.decode(line), book) or version
        except Unreachable:
            await asyncio.sleep(0.2)


def _report_event(event: _Event, book: PodBook) -> str:
    """Report one event to a book; return the version of the event."""
    pod, now = event.object, time.perf_counter()
    if event.type == "ERROR":
        raise BenchError(f"the watch of pods was refused: {pod.message}")
    namespace, name = pod.metadata.namespace, pod.metadata.name
    if event.type == "DELETED":
        book.gone(namespace, name)
    else:
        book.created(namespace, name, pod.metadata.labels, now)
        if pod.spec.node_name:
            book.bound(namespace, name, now)
        elif isinstance(pod.status, _Status) and any(c.type == "PodScheduled" for c in pod.status.conditions or ()):
            book.attempted(namespace, name)
    return pod.metadata.resource_version
