"""`python -m benchmarks.least`: what one pod costs at least, in bytes, requests, changed rows and function calls.

A cluster in one process and in virtual time starts a Deployment, and then a second one of the same size, whose pods are
counted: what the scheduler reads from its watches, what it writes, and which of its functions run. Then some steps
that no scheduler can leave out are timed alone: decoding an event, and encoding a binding. docs/internals/
speed-of-light.md compares the result with the measured costs.
"""

import socket
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from types import FrameType
from typing import Any
from unittest import mock

import click
import msgspec
import numpy as np
from packages.controlplane.tests.up.test_cluster import Lived, a_node, living

from kubesched.api.pods import Pod
from kubesched.client.informers.object_reader import ObjectReader
from kubesched.client.informers.watch_events import read_event
from kubesched.client.rest import Query
from kubesched_controlplane.up.local_rest import LocalRest, LocalStream

ROWS = 5000
_PACKAGE = "/kubesched/"
_NAME = "web-7d9c5b-abcde"
# packages and functions whose calls are counted; the embedded API server shares the other packages
_CALLS = {
    "core": "functions of the core",
    "client": "functions of the client",
    "ChangeLog.record": "changes of a row",
    "DerivedColumn.refresh": "columns brought up to date",
    "RowwiseColumn.catch_up": "columns with rows to recompute",
}


def deployment(name: str, pods: int) -> dict[str, Any]:
    """Return a Deployment with a template as teams write it: variables, probes, limits, spreading over hosts."""
    labels = {"app": name, "team": "shop"}
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10}
    container = {
        "name": "main",
        "image": "registry.example.com/shop/web:1.4.2",
        "env": [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(8)],
        "ports": [{"containerPort": 8080}],
        "readinessProbe": probe,
        "livenessProbe": probe,
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": pods, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


class Counts:
    """What the scheduler reads and writes, and the calls of its functions by package."""

    def __init__(self) -> None:
        self.counting = False
        self.read: dict[str, list[bytes]] = {}
        self.written: dict[str, list[int]] = {}
        self.answered: dict[str, list[int]] = {}
        self.calls: Counter[str] = Counter()

    def note_call(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call of a Python function; sys.setprofile calls it."""
        if event == "call":
            path = frame.f_code.co_filename
            if (at := path.rfind(_PACKAGE)) >= 0:
                self.calls[path[at + len(_PACKAGE) :].partition("/")[0]] += 1
                self.calls[frame.f_code.co_qualname] += 1

    def note_lines(self, piece: bytes) -> None:
        """Keep the events of a watch."""
        if self.counting:
            for line in piece.splitlines():
                event = msgspec.json.decode(line)
                self.read.setdefault(f"{event['object'].get('kind')} {event['type']}", []).append(line)

    def note_request(self, method: str, path: str, body: bytes | None, answer: bytes) -> None:
        """Keep the size of a request and its answer."""
        if self.counting:
            name = f"{method} {path.rpartition('/')[2]}"
            self.written.setdefault(name, []).append(len(body or b""))
            self.answered.setdefault(name, []).append(len(answer))


def counted(nodes: int, pods: int) -> Counts:
    """Run two Deployments, and count while the second one starts."""
    counts = Counts()
    send, iter_any = LocalRest.send, LocalStream.iter_any

    async def counted_send(
        self: LocalRest,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: Query | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        answer = await send(self, method, path, body, query=query, content_type=content_type)
        counts.note_request(method, path, body, answer)
        return answer

    async def counted_pieces(self: LocalStream) -> AsyncIterator[bytes]:
        async for piece in iter_any(self):
            counts.note_lines(piece)
            yield piece

    async def story(lived: Lived) -> None:
        lived.add(deployment("first", pods))
        await lived.settled()
        counts.counting = True
        before = sys.getprofile()
        sys.setprofile(counts.note_call)
        try:
            lived.add(deployment("second", pods))
            await lived.settled()
        finally:
            sys.setprofile(before)
            counts.counting = False

    with mock.patch.multiple(LocalRest, send=counted_send), mock.patch.multiple(LocalStream, iter_any=counted_pieces):
        living(story, *(a_node(f"node-{number:04}", "32") for number in range(nodes)))
    return counts


def microseconds(work: Callable[[], object], times: int = 2000) -> float:
    """Return the processor time of one call, the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        for _ in range(times):
            work()
        best = min(best, time.process_time() - began)
    return best / times * 1e6


def binding(name: str) -> bytes:
    """Return an encoded Binding."""
    uid = "6f1e0a52-5f0a-4f0f-9a63-0d8d3c1b7f55"
    metadata = {"namespace": "default", "name": name, "uid": uid}
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": "node-0001"}}
    )


@click.command()
@click.option("--nodes", default=50, show_default=True, help="Nodes of the cluster.")
@click.option("--pods", default=200, show_default=True, help="Pods of each of the two Deployments.")
def main(nodes: int, pods: int) -> None:
    """Print what one pod of a Deployment costs at least."""
    counts = counted(nodes, pods)
    click.echo("read from watches, a pod:")
    for name, lines in sorted(counts.read.items()):
        if len(lines) >= pods:
            size = sum(map(len, lines)) / len(lines)
            click.echo(f"  {name}: {len(lines) / pods:.2f} events of {size:.0f} bytes")
    others = sum(len(lines) for lines in counts.read.values() if len(lines) < pods)
    click.echo(f"  other events: {others / pods:.2f}")
    click.echo("requests, a pod:")
    for name in sorted(counts.written):
        sizes, answers = counts.written[name], counts.answered[name]
        if len(sizes) >= pods / 2:
            size, answer = sum(sizes) / len(sizes), sum(answers) / len(answers)
            click.echo(f"  {name}: {len(sizes) / pods:.2f} of {size:.0f} bytes, answers of {answer:.0f} bytes")
    click.echo("calls, a pod:")
    for name, meaning in _CALLS.items():
        click.echo(f"  {meaning}: {counts.calls[name] / pods:.1f}")
    line = max(counts.read["Pod MODIFIED"], key=len)
    reader = ObjectReader(Pod, "/api/v1/pods", lambda _: None, {})
    body, (ours, theirs) = binding(_NAME), socket.socketpair()

    def exchange() -> None:
        ours.sendall(body)
        theirs.sendall(theirs.recv(4096))
        ours.recv(4096)

    free, best = np.arange(ROWS) % 97, np.zeros(ROWS)
    steps: dict[str, Callable[[], object]] = {
        f"read an event of a pod of {len(line)} bytes": lambda: reader.read(read_event(line).object),
        "skip through the same JSON": lambda: msgspec.json.decode(line, type=msgspec.Raw),
        f"encode a binding of {len(body)} bytes": lambda: binding(_NAME),
        "send it over a local socket and back": exchange,
        f"compare a column of {ROWS} rows with a number": lambda: free >= 50,
        f"find the best rows of {ROWS}": lambda: np.flatnonzero(best == best.max()),
        "call an empty Python function": lambda: None,
    }
    click.echo("alone, microseconds:")
    with ours, theirs:
        for meaning, work in steps.items():
            click.echo(f"  {meaning}: {microseconds(work):.2f}")


if __name__ == "__main__":
    main()
