"""Requests to the embedded API server by somebody without rights."""

import contextlib
import time

from attack.attacks import attack, expect
from attack.targets import PODS, Cluster, a_pod

NODES = "/api/v1/nodes"


@attack(Cluster)
def without_rights(cluster: Cluster) -> str:
    """Somebody without a token, or with a wrong one, reads and writes."""
    found = []
    for token in ("", "wrong", cluster.api.token[:-1], "a" * 60_000):
        found += [
            cluster.api.ask("GET", NODES, token=token)[0],
            cluster.api.ask("POST", PODS, a_pod("x"), token=token)[0],
        ]
    found.append(cluster.api.ask("GET", NODES, headers={"Impersonate-User": "system:admin"}, token="")[0])
    found.append(cluster.api.ask("GET", NODES, headers={"X-Remote-User": "system:masters"}, token="")[0])
    expect(set(found) <= {401, 403, 431}, f"{found}")
    return f"{found}"


@attack(Cluster)
def bodies_without_rights(cluster: Cluster) -> str:
    """Somebody without rights sends 60 bodies of 2.9 MB, which do not end: they are refused before they are read."""
    head = (
        f"POST {PODS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n".encode()
    )
    before = cluster.rss()
    with cluster.api.many(60) as held:
        for connection in held:
            with contextlib.suppress(OSError):
                connection.sendall(head)
                connection.sendall(b"x" * 2_900_000)
        time.sleep(1)
        grown = cluster.rss() - before
        expect(grown < 80, f"+{grown:.0f} MiB")
        cluster.serve_owner()
    return f"+{grown:.0f} MiB"


@attack(Cluster)
def silent_connections(cluster: Cluster) -> str:
    """Somebody holds 300 connections and says nothing."""
    with cluster.api.many(300) as held:
        cluster.serve_owner()
        return f"{len(held)} connections"


@attack(Cluster)
def floods_of_headers(cluster: Cluster) -> str:
    """Somebody sends 200 requests with 100 kB of headers each, and ends none."""
    data = b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 50_000 + b"\r\nY: " + b"a" * 50_000
    with cluster.api.many(200, data) as held:
        cluster.serve_owner()
        return f"{len(held)} connections"


@attack(Cluster)
def malformed_requests(cluster: Cluster) -> str:
    """Somebody sends smuggled, doubled and broken requests: none is a fault of the server, and none is served."""
    for what in (
        b"POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        b"GET /api/v1/nodes HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET /api/v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: a\r\n" % number for number in range(5000)) + b"\r\n",
    ):
        first = cluster.api.sent(what, 2.0).partition(b"\r\n")[0]
        expect(b" 200 " not in first and b" 500 " not in first, f"{what[:40]!r}: {first!r}")
    return "refused or cut"
