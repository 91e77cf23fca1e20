"""The embedded control plane under load: how many watch how much, and how fast it takes writes.

    python -m benchmarks.controlplane [--watchers 50] [--nodes 5000] [--pods 20000] [--writes 10000] [--no-tls] [--data]

The server is a process of its own, as `kubesched controlplane --no-simulate` starts it; load comes from other
processes: one with all watchers, some with writers that keep a few requests under way each. Clients here do no more
than HTTP demands, so that they are not what is measured. With --data the server keeps everything in a folder; at the
end it is killed, and the time is taken in which it is back.
"""

import argparse
import asyncio
import json
import os
import platform
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from rich.console import Console
from rich.table import Table

PODS = "/api/v1/namespaces/default/pods"
# requests that each writer has under way
AT_ONCE = 16
MIB = 1024 * 1024


class Server(NamedTuple):
    """A server that runs, and how to reach it."""

    pid: int
    host: str
    port: int
    token: str
    authority: str
    load_seconds: float


# -- the cluster


def a_node(number: int) -> dict[str, Any]:
    labels = {
        "kubernetes.io/hostname": f"node-{number}",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "topology.kubernetes.io/region": "region",
        "node.kubernetes.io/instance-type": "large",
    }
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    kinds = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    conditions = [
        {"type": kind, "status": str(kind == "Ready"), "reason": f"Kubelet{kind}", "message": f"kubelet says {kind}"}
        for kind in kinds
    ]
    status = {"capacity": amounts, "allocatable": amounts, "conditions": conditions}
    meta = {"name": f"node-{number}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}


def a_pod(name: str, node: str = "") -> dict[str, Any]:
    requests = {"cpu": "100m", "memory": "128Mi"}
    container = {"name": "c", "image": "example.com/image:1", "resources": {"requests": requests}}
    spec: dict[str, Any] = {"containers": [container]}
    if node:
        spec["nodeName"] = node
    meta = {"name": name, "namespace": "default", "labels": {"app": "bench", "tier": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def manifests(nodes: int, pods: int) -> str:
    """Return a cluster as one JSON document: all pods are on nodes."""
    items = [a_node(number) for number in range(nodes)]
    items += [a_pod(f"old-{number}", f"node-{number % nodes}") for number in range(pods)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


# -- the server


class Running:
    """A server with a cluster in it, for as long as the block is open."""

    def __init__(self, nodes: int, pods: int, tls: bool, data: bool) -> None:
        self._folder = tempfile.TemporaryDirectory()
        file, self._config, kept = (Path(self._folder.name, name) for name in ("cluster.json", "kubeconfig", "data"))
        file.write_text(manifests(nodes, pods))
        self._flags = ["--tls" if tls else "--no-tls", "--no-simulate", "--kubeconfig", str(self._config)]
        if data:
            self._flags += ["--data", str(kept)]
        self.server = self._start(str(file))

    def _start(self, *files: str) -> Server:
        config = self._config
        command = [sys.executable, "-m", "kubesched", "controlplane", *self._flags, *files]
        began = time.monotonic()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        url = self._process.stdout.readline().partition(" at ")[2].partition(";")[0]
        self._process.stdout.readline()
        content = yaml.safe_load(config.read_text())
        authority = content["clusters"][0]["cluster"].get("certificate-authority-data", "")
        host, _, port = url.partition("://")[2].rpartition(":")
        token = content["users"][0]["user"]["token"]
        return Server(self._process.pid, host, int(port), token, authority, time.monotonic() - began)

    def killed(self) -> Server:
        """Return the server that is there after the first was killed."""
        self._process.kill()
        self._process.communicate()
        return self._start()

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()


def memory_mib(pid: int, field: str = "VmRSS") -> float:
    """Return what a process holds, or the most it has held (VmHWM)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# -- clients


def _encoded(server: Server, method: str, path: str, document: Any = None, form: str = "application/json") -> bytes:
    body = b"" if document is None else json.dumps(document).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {server.token}\r\n"
        f"Accept: application/json\r\nContent-Type: {form}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _context(server: Server) -> ssl.SSLContext | None:
    if not server.authority:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Caller(asyncio.Protocol):
    """Sends requests one after the other, each when the last is answered; counts refusals."""

    def __init__(self, requests: Iterator[bytes], done: asyncio.Future[int]) -> None:
        self._requests = requests
        self._done = done
        self._read = b""
        self._refused = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast(asyncio.Transport, transport)
        self._next()

    def data_received(self, data: bytes) -> None:
        """Go on with the next request when an answer is there as a whole."""
        self._read += data
        head, end, body = self._read.partition(b"\r\n\r\n")
        if not end:
            return
        at = head.lower().index(b"content-length: ") + 16
        if len(body) >= int(head[at:].split(b"\r\n", 1)[0]):
            self._refused += not head.startswith(b"HTTP/1.1 2")
            self._read = b""
            self._next()

    def connection_lost(self, error: Exception | None) -> None:
        """Complain if there is more to do."""
        if not self._done.done():
            self._done.set_exception(error or ConnectionError("the server hung up"))

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is not None:
            self._transport.write(request)
        else:
            self._done.set_result(self._refused)
            self._transport.close()


class Counter(asyncio.Protocol):
    """Watches, and counts events."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._last = b""
        self.events = 0
        self.bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        cast(asyncio.Transport, transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """Count lines: nothing else in the stream ends so."""
        self.bytes += len(data)
        self.events += data.count(b"}\n") + (self._last == b"}" and data[:1] == b"\n")
        self._last = data[-1:]


def _run(work: Any) -> Any:
    import uvloop

    return uvloop.run(work)


def write(server: Server, requests: list[tuple[str, str, Any, str]], pipe: Connection) -> None:
    """Be a process that writes: wait for the word, send all requests, tell how many were refused."""

    async def work() -> int:
        left = iter([_encoded(server, *request) for request in requests])
        pipe.send("ready")
        pipe.recv()
        loop = asyncio.get_running_loop()
        done = [loop.create_future() for _ in range(AT_ONCE)]
        context = _context(server)
        for future in done:
            await loop.create_connection(lambda f=future: Caller(left, f), server.host, server.port, ssl=context)
        return sum(await asyncio.gather(*done))

    pipe.send(_run(work()))


def watch(server: Server, watchers: int, initial: bool, pipe: Connection) -> None:
    """Be a process with all watchers: tell what they have counted whenever asked, until told to end."""
    begin = f"sendInitialEvents={str(initial).lower()}&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"

    async def work() -> None:
        loop = asyncio.get_running_loop()
        context = _context(server)
        request = _encoded(server, "GET", f"/api/v1/pods?watch=1&{begin}")
        counters = [Counter(request) for _ in range(watchers)]
        for counter in counters:
            await loop.create_connection(lambda c=counter: c, server.host, server.port, ssl=context)
        pipe.send("ready")
        while await loop.run_in_executor(None, pipe.recv):
            pipe.send((sum(each.events for each in counters), min(each.events for each in counters)))

    _run(work())


# -- measuring


class Figures(NamedTuple):
    """What one run gave."""

    what: str
    writes: int
    watchers: int
    seconds: float
    delivered_seconds: float
    cpu_seconds: float
    refused: int
    mib: float

    def row(self) -> list[str]:
        """Return the figures as texts."""
        return [
            self.what,
            str(self.watchers),
            f"{self.writes / self.seconds:.0f}",
            f"{1e6 * self.cpu_seconds / self.writes:.0f}",
            f"{self.writes * self.watchers / self.delivered_seconds:.0f}" if self.watchers else "",
            f"{self.mib:.0f}",
        ]


HEADINGS = ("load", "watchers", "writes/s", "server CPU, µs a write", "deliveries/s", "server memory, MiB")


class Watchers:
    """A process with watchers."""

    def __init__(self, server: Server, number: int, *, initial: bool = False) -> None:
        self.number = number
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=watch, args=(server, number, initial, theirs))
        self._process.start()
        self._pipe.recv()

    def counted(self) -> tuple[int, int]:
        """Return how many events have come in all, and to the one that is furthest behind."""
        self._pipe.send(True)
        found: tuple[int, int] = self._pipe.recv()
        return found

    def end(self) -> None:
        """Watch no more."""
        self._pipe.send(False)
        self._process.join()


def measure(
    what: str, server: Server, watchers: Watchers, requests: list[tuple[str, str, Any, str]], writers: int
) -> Figures:
    """Return how fast the server takes requests and tells all watchers."""
    context = get_context("spawn")
    processes, pipes = [], []
    for number in range(writers):
        mine, theirs = context.Pipe()
        processes.append(context.Process(target=write, args=(server, requests[number::writers], theirs)))
        processes[-1].start()
        pipes.append(mine)
    for pipe in pipes:
        pipe.recv()
    before, cpu = watchers.counted()[1], cpu_seconds(server.pid)
    began = time.monotonic()
    for pipe in pipes:
        pipe.send("go")
    refused = sum(pipe.recv() for pipe in pipes)
    seconds = time.monotonic() - began
    while watchers.number and watchers.counted()[1] - before < len(requests) - refused:
        time.sleep(0.005)
    delivered = time.monotonic() - began
    spent = cpu_seconds(server.pid) - cpu
    for process in processes:
        process.join()
    return Figures(what, len(requests), watchers.number, seconds, delivered, spent, refused, memory_mib(server.pid))


def measure_beginning(server: Server, number: int, pods: int) -> Watchers:
    """Return watchers that have been told of all pods; print how fast."""
    began = time.monotonic()
    watchers = Watchers(server, number, initial=True)
    while watchers.counted()[1] <= pods:
        time.sleep(0.01)
    seconds = time.monotonic() - began
    held = memory_mib(server.pid, "VmHWM")
    print(
        f"{number} watchers told of {pods} pods each in {seconds:.1f} s, {number * pods / seconds:.0f} deliveries/s;",
        end=" ",
    )
    print(f"most memory until then {held:.0f} MiB")
    return watchers


def creates(writes: int) -> list[tuple[str, str, Any, str]]:
    return [("POST", PODS, a_pod(f"new-{number}"), "application/json") for number in range(writes)]


def binds(writes: int, nodes: int) -> list[tuple[str, str, Any, str]]:
    return [
        (
            "POST",
            f"{PODS}/new-{number}/binding",
            {"metadata": {"name": f"new-{number}"}, "target": {"kind": "Node", "name": f"node-{number % nodes}"}},
            "application/json",
        )
        for number in range(writes)
    ]


def patches(writes: int, prefix: str = "new") -> list[tuple[str, str, Any, str]]:
    form = "application/strategic-merge-patch+json"
    conditions = [{"type": "Ready", "status": "True", "reason": "Bench", "message": "as good as any"}]
    return [
        ("PATCH", f"{PODS}/{prefix}-{number}/status", {"status": {"conditions": conditions, "podIP": "10.0.0.1"}}, form)
        for number in range(writes)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--watchers", type=int, default=50)
    parser.add_argument("--few-watchers", type=int, default=5)
    parser.add_argument("--writes", type=int, default=10_000)
    parser.add_argument("--writers", type=int, default=1, help="processes that write")
    parser.add_argument("--tls", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--data", action="store_true", help="let the server keep everything in a folder")
    options = parser.parse_args()
    rows: list[Figures] = []
    with Running(options.nodes, options.pods, options.tls, options.data) as running:
        server = running.server
        held = memory_mib(server.pid)
        print(f"{options.nodes} nodes and {options.pods} pods loaded in {server.load_seconds:.1f} s, {held:.0f} MiB")
        many = measure_beginning(server, options.watchers, options.pods)
        rows.append(measure("status patches", server, many, patches(options.writes, "old"), options.writers))
        many.end()
        few = Watchers(server, options.few_watchers)
        for what, requests in (
            ("pod creates", creates(options.writes)),
            ("binds", binds(options.writes, options.nodes)),
            ("status patches", patches(options.writes)),
        ):
            rows.append(measure(what, server, few, requests, options.writers))
        few.end()
        peak = memory_mib(server.pid, "VmHWM")
        if options.data:
            again = running.killed()
            print(f"killed, and back in {again.load_seconds:.1f} s, {memory_mib(again.pid):.0f} MiB")
    table = Table(*HEADINGS, title=f"{'TLS' if options.tls else 'no TLS'}; peak memory of the server {peak:.0f} MiB")
    for row in rows:
        table.add_row(*row.row())
    Console().print(table)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores ({platform.machine()})")
    refused = sum(row.refused for row in rows)
    if refused:
        sys.exit(f"{refused} writes were refused")


if __name__ == "__main__":
    main()
