"""An API server that holds a large cluster and takes its time: just enough of one to let a scheduler work.

    python -m benchmarks.large_cluster --nodes 5000 --pods 100000 --waiting 5000 --lists stream

It prints its port. Pods are as large as those of real clusters, written from a template as they are sent; lists are
streamed, sent in pages, or sent whole (as old servers do for resourceVersion=0). A binding is answered after a while,
and then told to whoever watches.
"""

import argparse
import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
from aiohttp import web

NAMESPACE = "large"
VERSION = "1000000"
PER_WRITE = 100


def a_node(number: int) -> dict[str, Any]:
    name = f"node-{number:05}"
    amounts = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "topology.kubernetes.io/region": "region",
    }
    images = [{"names": [f"registry.invalid/image-{i}:1"], "sizeBytes": 10**8} for i in range(10)]
    meta = {"name": name, "uid": f"node-uid-{number:05}", "resourceVersion": "1", "labels": labels}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready], "images": images}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {}, "status": status}


def _template() -> dict[str, Any]:
    """Return a pod as a Deployment and a kubelet make them, about 4 kB of it."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "app-6d4b75cb6d",
        "uid": "6a1bc8e4-0000-4000-8000-000000000000",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    fields = {
        f"f:field{i}": {f'k:{{"name":"key-{i}-{j}"}}': {".": {}, "f:name": {}} for j in range(3)} for i in range(8)
    }
    managed = [
        {"manager": who, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsV1": fields}
        for who in ("kube-controller-manager",)
    ]
    container = {
        "name": "main",
        "image": "registry.invalid/image-1:1",
        "env": [{"name": f"VARIABLE_{i}", "value": f"value of the variable number {i}"} for i in range(12)],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [{"name": "kube-api-access-@name", "mountPath": "/var/run/secrets/token", "readOnly": True}],
    }
    spec = {
        "containers": [container],
        "volumes": [
            {"name": "kube-api-access-@name", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
        ],
        "schedulerName": "default-scheduler",
        "serviceAccountName": "default",
        "nodeName": "@node",
        "tolerations": [
            {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for key in ("not-ready", "unreachable")
        ],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    meta = {
        "name": "@name",
        "namespace": NAMESPACE,
        "uid": "@uid",
        "resourceVersion": "@version",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "@app", "pod-template-hash": "6d4b75cb6d"},
        "ownerReferences": [owner],
        "managedFields": managed,
    }
    status = {"phase": "@phase", "conditions": conditions, "hostIP": "10.0.0.1", "podIP": "10.1.0.1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


class Pods:
    """Writes pods: the first `placed` have a node, `waiting` more have none."""

    def __init__(self, nodes: int, placed: int, waiting: int) -> None:
        self.nodes, self.placed, self.count = nodes, placed, placed + waiting
        text = msgspec.json.encode(_template()).replace(b"%", b"%%")
        for field in ("name", "uid", "version", "app", "phase", "node"):
            text = text.replace(f"@{field}".encode(), f"%({field})b".encode())
        self._text = text
        self.bound: dict[int, str] = {}

    def one(self, number: int) -> bytes:
        """Return a pod as JSON."""
        placed = number < self.placed
        node = f"node-{number % self.nodes:05}" if placed else self.bound.get(number, "")
        values = {
            "name": f"pod-{number:06}",
            "uid": f"pod-uid-{number:06}",
            "version": str(int(VERSION) + number) if node and not placed else "1",
            "app": f"app-{number % 500}",
            "phase": "Running" if placed else "Pending",
            "node": node,
        }
        return self._text % {name.encode(): value.encode() for name, value in values.items()}


class Server:
    """Answers what a scheduler asks."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._pods = Pods(options.nodes, options.pods, options.waiting)
        self._watches: list[asyncio.Queue[bytes]] = []
        self.outstanding = self.most_outstanding = 0

    def app(self) -> web.Application:
        """Return what is served."""
        app = web.Application(client_max_size=1 << 26)
        app.router.add_get("/api/v1/namespaces/kube-system", self._namespace)
        app.router.add_post("/api/v1/namespaces/{namespace}/pods/{name}/binding", self._bind)
        app.router.add_get("/figures", self._figures)
        app.router.add_get("/{path:.*}", self._get)
        app.router.add_route("*", "/{path:.*}", self._write)
        return app

    async def _namespace(self, request: web.Request) -> web.Response:
        return web.json_response({"metadata": {"name": "kube-system", "uid": "large", "resourceVersion": "1"}})

    async def _figures(self, request: web.Request) -> web.Response:
        return web.json_response({"outstanding": self.most_outstanding, "bound": len(self._pods.bound)})

    async def _write(self, request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"metadata": {}}, status=201)

    async def _bind(self, request: web.Request) -> web.Response:
        document = msgspec.json.decode(await request.read())
        self.outstanding += 1
        self.most_outstanding = max(self.most_outstanding, self.outstanding)
        await asyncio.sleep(self._options.delay)
        self.outstanding -= 1
        number = int(request.match_info["name"].rpartition("-")[2])
        self._pods.bound[number] = document["target"]["name"]
        line = _event(b"MODIFIED", self._pods.one(number))
        for watch in self._watches:
            watch.put_nowait(line)
        return web.json_response({"kind": "Status", "status": "Success"}, status=201)

    async def _get(self, request: web.Request) -> web.StreamResponse:
        kind = request.path.rpartition("/")[2]
        if "watch" in request.query:
            if "sendInitialEvents" in request.query and self._options.lists != "stream":
                refusal = {
                    "kind": "Status",
                    "code": 422,
                    "reason": "Invalid",
                    "message": "sendInitialEvents is forbidden",
                }
                return web.json_response(refusal, status=422)
            return await self._watch(request, kind)
        count = {"pods": self._pods.count, "nodes": self._options.nodes}.get(kind, 0)
        begin, limit = int(request.query.get("continue", 0)), int(request.query.get("limit", 0))
        if self._options.lists == "whole" and request.query.get("resourceVersion") == "0":
            limit = 0
        end = min(count, begin + limit) if limit else count
        return await self._send_list(request, kind, range(begin, end), more=end < count)

    async def _send_list(self, request: web.Request, kind: str, numbers: range, *, more: bool) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        meta = {"resourceVersion": VERSION, **({"continue": str(numbers.stop)} if more else {})}
        await response.write(b'{"kind":"List","apiVersion":"v1","metadata":%b,"items":[' % msgspec.json.encode(meta))
        for piece in _pieces(numbers):
            body = b",".join(self._object(kind, number) for number in piece)
            await response.write((b"," if piece.start > numbers.start else b"") + body)
        await response.write(b"]}")
        return response

    async def _watch(self, request: web.Request, kind: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        told: asyncio.Queue[bytes] = asyncio.Queue()
        if kind == "pods":
            self._watches.append(told)
        if "sendInitialEvents" in request.query:
            count = {"pods": self._pods.count, "nodes": self._options.nodes}.get(kind, 0)
            for piece in _pieces(range(count)):
                await response.write(b"".join(_event(b"ADDED", self._object(kind, number)) for number in piece))
            end = {"resourceVersion": VERSION, "annotations": {"k8s.io/initial-events-end": "true"}}
            await response.write(_event(b"BOOKMARK", msgspec.json.encode({"metadata": end})))
        while True:
            lines = [await told.get()]
            while not told.empty():
                lines.append(told.get_nowait())
            await response.write(b"".join(lines))

    def _object(self, kind: str, number: int) -> bytes:
        return self._pods.one(number) if kind == "pods" else msgspec.json.encode(a_node(number))


def _pieces(numbers: range) -> Iterator[range]:
    for begin in range(numbers.start, numbers.stop, PER_WRITE):
        yield range(begin, min(begin + PER_WRITE, numbers.stop))


def _event(kind: bytes, obj: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind, obj)


async def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=100_000, help="with a node")
    parser.add_argument("--waiting", type=int, default=5000, help="further pods, without a node")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds that a binding takes")
    parser.add_argument("--lists", choices=("stream", "pages", "whole"), default="stream")
    runner = web.AppRunner(Server(parser.parse_args()).app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
