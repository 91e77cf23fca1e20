"""Whatever is asked, in whatever order: an answer or a Status that fits, never a 500, and versions that rise."""

import asyncio
import copy
import json
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.good_objects import DAMAGE, GOOD, places

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.media_types import APPLY_PATCH, JSON_PATCH
from kubesched_controlplane.api.media_types import PATCHES as PATCHES
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.schema import Schemas
from kubesched_controlplane.schema.shapes import ListType, MapType, Scalar, ScalarType, Shape, Type
from kubesched_controlplane.server.catalog import RESOURCES
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.server.verbs.patching import merged
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport.http import HttpServer
from kubesched_controlplane.transport.local_client import LocalClient

SECONDS = 20.0
# how long an answer to a request that may be incomplete is waited for
PATIENCE = 0.2

# the reference has no better answer to this one either
SEVERAL_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

SCHEMAS = Schemas()
POD = {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]}}
BODIES: dict[str, Any] = {
    "Pod": POD,
    "Binding": {"target": {"kind": "Node", "name": "a"}},
    "Eviction": {"deleteOptions": {"gracePeriodSeconds": 0}},
    "Scale": {"spec": {"replicas": 3}},
    "TokenReview": {"spec": {"token": "x"}},
    "SubjectAccessReview": {"spec": {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods"}}},
    "Role": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "RoleBinding": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}],
    },
    **{kind: rest for kind, (_, rest) in GOOD.items()},
}
BODIES |= {f"Cluster{kind}": BODIES[kind] for kind in ("Role", "RoleBinding")}
KINDS = {"binding": "Binding", "eviction": "Eviction", "scale": "Scale"}


class Sent(NamedTuple):
    """A request as it is sent."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes


def patiently(examples: int) -> settings:
    """Return settings for examples that are large."""
    unhealthy = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=unhealthy)


# -- values


def words(text: str) -> st.SearchStrategy[str]:
    """Return one of the words in a text."""
    return st.sampled_from(text.split())


NAMES = st.sampled_from(["a", "a", "a", "a", "b", "default", "view", "n" * 253])
WORDS = words(
    "a b default Always Never In NotIn Exists Equal NoSchedule NoExecute ReadWriteOnce Filesystem Delete Retain TCP "
    "ClusterIP None Immediate WaitForFirstConsumer DoNotSchedule kubernetes.io/hostname app/b 10.0.0.1 10.0.0.0/8 "
    "Pod Node v1 v2 system:masters 50% -1 1Gi /x ../x true 2026-01-01T00:00:00Z"
)
TEXTS = WORDS | st.text(max_size=8) | st.sampled_from(["", "x" * 64, "x" * 300, "\x00", "é\u2028\U0001f600"])
NUMBERS = st.sampled_from([0, 1, -1, 2, 300, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 2**63, 10**30]) | st.integers(-9, 9)
SCALARS: dict[Scalar, st.SearchStrategy[Any]] = {
    Scalar.STRING: TEXTS,
    Scalar.BOOL: st.booleans(),
    Scalar.INT32: NUMBERS,
    Scalar.INT64: NUMBERS,
    Scalar.BYTES: st.sampled_from(["", "aGk=", "?"]),
    Scalar.TIME: st.sampled_from(["2026-01-02T03:04:05Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "soon"]),
    Scalar.MICRO_TIME: st.sampled_from(["2026-01-02T03:04:05.000006Z", "9999-12-31T23:59:59.999999-09:00"]),
    Scalar.INT_OR_STRING: NUMBERS | TEXTS,
}
QUANTITIES = st.sampled_from(["0", "1", "500m", "-1", "1Gi", "1e3", "9E", "1e1000", "0.0000000001", 3, 1.5, "x", True])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def values(draw: st.DrawFn, type_: Type, depth: int = 0) -> Any:
    """Draw a value of a type, with few fields."""
    match type_:
        case Shape():
            known = sorted(type_.fields)
            fields = draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known and depth < 7 else []
            return {field: draw(values(type_.fields[field].type, depth + 1)) for field in fields}
        case ListType():
            return draw(st.lists(values(type_.element, depth + 1), max_size=2))
        case MapType():
            return draw(st.dictionaries(TEXTS, values(type_.value, depth + 1), max_size=2))
        case ScalarType():
            return draw(SCALARS.get(type_.scalar, QUANTITIES))


@st.composite
def documents(draw: st.DrawFn, resource: Resource, subresource: str) -> Any:
    """Draw a document that is nearly, or not at all, what a path takes."""
    kind = KINDS.get(subresource, resource.kind)
    document = {"metadata": {"name": draw(NAMES)}, **copy.deepcopy(BODIES.get(kind, {}))}
    shape = SCHEMAS.for_kind(resource.api_version, kind) or SCHEMAS.shape(resource)
    if draw(st.booleans()):
        document = merged(document, draw(values(shape)))
    if draw(st.booleans()):
        document |= {"apiVersion": shape.api_version, "kind": kind}
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        way = draw(st.sampled_from(sorted(places(document), key=repr)))
        holder: Any = document
        for part in way[:-1]:
            holder = holder[part]
        damage = draw(st.sampled_from(DAMAGE) | JSON)
        if damage is not ...:
            holder[way[-1]] = copy.deepcopy(damage)
        elif isinstance(holder, dict):
            del holder[way[-1]]
        if not document:
            break
    return document


POINTERS = st.sampled_from(
    [
        "",
        "/",
        "/metadata",
        "/metadata/labels",
        "/metadata/labels/a",
        "/spec",
        "/spec/containers/0",
        "/spec/-",
        "/~2",
        "x",
    ]
)
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "nop"]), "path": POINTERS},
        optional={"from": POINTERS, "value": JSON},
    ),
    max_size=3,
)
# what can be wrong with the bytes of a document
DISTORTIONS = st.sampled_from(
    [
        lambda body: body[: len(body) // 2],
        lambda body: body.replace(b"{", b'{"metadata":{"name":"b"},', 1),
        lambda body: body + b"}",
        lambda body: b"\xef\xbb\xbf" + body,
        lambda body: body.replace(b'"', b'"\xff', 1),
        lambda body: body.replace(b'"', b'"\\ud800', 1),
        lambda body: body.replace(b"1", b"1e999999", 1),
        lambda body: body.replace(b"1", b"1" * 5000, 1),
        lambda body: body.replace(b"{}", b"[" * 5000 + b"]" * 5000, 1),
        lambda body: b'{"spec":' * 300 + body + b"}" * 300,
        lambda body: b"\x00" + body,
        lambda body: b"k8s\x00" + body,
        lambda body: b"",
        lambda body: b"null",
        lambda body: b"NaN",
    ]
)


# -- requests

PLACES = st.sampled_from(["default"] * 8 + ["a", "kube-system", "nowhere", "%", "a b", ".."])
QUERIES = st.dictionaries(
    words(
        "watch limit continue resourceVersion resourceVersionMatch sendInitialEvents allowWatchBookmarks "
        "timeoutSeconds labelSelector fieldSelector dryRun fieldValidation fieldManager force gracePeriodSeconds "
        "propagationPolicy orphanDependents pretty x"
    ),
    st.lists(
        words(
            "true false 0 1 3 -1 99999999999999999999 Exact NotOlderThan All Strict Ignore Orphan Foreground a=b "
            "a!=b,c !a metadata.name=a spec.nodeName!=x a=b=c \\ e30 "
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0"
        )
        | st.text(max_size=6),
        max_size=2,
    ),
    max_size=2,
)
FORMS = st.sampled_from(
    [
        *PATCHES,
        APPLY_PATCH,
        "application/json; charset=utf-8",
        "application/yaml",
        "text/plain",
        "",
        "é",
        ";",
        "application/vnd.kubernetes.protobuf",
    ]
)
ACCEPTED = st.sampled_from(
    [
        "",
        "*/*",
        "application/json",
        "text/html",
        "application/yaml",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=x;v=y;g=z,application/json",
    ]
)
NONSENSE = st.sampled_from(
    ["/", "", "//", "/api", "/api/v1/", "/api/v1//pods", "/apis/apps", "/apis/x/y/z", "/api/v1/watch", "/healthz", "/é"]
) | st.lists(st.sampled_from(["api", "apis", "v1", "namespaces", "watch", "pods", "..", "", "\x00"]), max_size=7).map(
    "/".join
)


@st.composite
def requests(draw: st.DrawFn) -> Sent:
    """Draw a request: mostly one that could be right."""
    resource = draw(st.sampled_from(RESOURCES))
    subresource = ""
    known = sorted(resource.subresources)
    if known and draw(st.integers(0, 2)) == 0:
        subresource = draw(st.sampled_from([*known, "nothing"]))
    method = draw(st.sampled_from(["POST", "POST", "POST", "GET", "PUT", "PATCH", "PATCH", "DELETE", "HEAD", "TRACE"]))
    document = draw(documents(resource, subresource))
    body = b""
    form = draw(st.sampled_from([*PATCHES, APPLY_PATCH])) if method == "PATCH" else "application/json"
    if method in ("POST", "PUT", "PATCH") or draw(st.booleans()):
        if form == JSON_PATCH:
            document = draw(OPERATIONS)
        body = json.dumps(document).encode()
        if draw(st.integers(0, 9)) == 9:
            body = draw(DISTORTIONS)(body)
    query = draw(QUERIES) if draw(st.integers(0, 2)) == 0 else {}
    if form == APPLY_PATCH:
        query = {"fieldManager": ["me"], **query}
    headers = {"content-type": form}
    if draw(st.integers(0, 9)) == 9:
        headers = {"content-type": draw(FORMS), "accept": draw(ACCEPTED)}
    return Sent(method, draw(_paths(resource, subresource, method)), query, headers, body)


@st.composite
def _paths(draw: st.DrawFn, resource: Resource, subresource: str, method: str) -> str:
    if draw(st.integers(0, 19)) == 19:
        return draw(NONSENSE)
    parts = ["apis", resource.group, resource.version] if resource.group else ["api", resource.version]
    if draw(st.integers(0, 19)) == 19:
        parts.append("watch")
    if resource.namespaced != (draw(st.integers(0, 19)) == 19):
        parts += ["namespaces", draw(PLACES)]
    parts.append(resource.plural)
    if subresource or (method != "POST") != (draw(st.integers(0, 9)) == 9):
        parts.append(draw(NAMES))
    if subresource:
        parts.append(subresource)
    return "/" + "/".join(parts)


# -- what holds


def a_server() -> ApiServer:
    """Return a server that has one object of every kind."""
    server = ApiServer(access=always_allow, seed=1, store=Store(20))
    client = LocalClient(server, ADMINISTRATOR)
    bootstrap(client)
    for resource in RESOURCES:
        if resource.kind in BODIES and "list" in resource.verbs and not resource.same_prefix_as:
            place = {"namespace": "default"} if resource.namespaced else {}
            client.create(resource, {"metadata": {"name": "a", **place}, **BODIES[resource.kind]})
    return server


def check_refusal(code: int, body: bytes) -> None:
    """Hold a refusal against what Kubernetes says it is."""
    status = json.loads(body)
    assert (status["kind"], status["apiVersion"], status["status"]) == ("Status", "v1", "Failure")
    assert status["code"] == code
    assert isinstance(status["message"], str)
    # nobody is behind a service
    expected = status["reason"] in ("Timeout", "ServiceUnavailable") or status["message"] == SEVERAL_BUDGETS
    assert code < 500 or expected, status


def ask(server: ApiServer, sent: Sent) -> None:
    """Ask, and hold the answer against what must be true of every answer."""
    store = server.registry.store
    before = store.version
    found = server.handle(Request(sent.method, sent.path, sent.query, sent.headers, sent.body))
    assert store.version >= before
    if not isinstance(found, Response):
        for line in found.take().splitlines():
            event = json.loads(line)
            assert set(event) == {"type", "object"}
        found.end()
        assert store.version == before, "a watch changes nothing"
        return
    body = b"".join(found.chunks)
    if found.code >= 400:
        check_refusal(found.code, body)
        return
    assert found.code in (200, 201)
    if sent.method in ("GET", "HEAD") or sent.query.get("dryRun") == ["All"]:
        assert store.version == before, "reading changes nothing, and neither does a dry run"
    if found.content_type == "application/json":
        document = json.loads(body)
        version = (document.get("metadata") or {}).get("resourceVersion")
        assert version is None or 0 <= int(version) <= store.version


def check_store(server: ApiServer) -> None:
    """Hold what is stored against what clients may rely on: it can be read, and written back as it is."""
    for resource in RESOURCES:
        if resource.same_prefix_as or "update" not in resource.verbs:
            continue
        versions = set()
        for stored in server.registry.store.set_of(resource.prefix):
            document = json.loads(stored.body)
            meta = document["metadata"]
            assert (document["kind"], document["apiVersion"]) == (resource.kind, resource.api_version)
            assert (meta["name"], meta.get("namespace", "")) == (stored.name, stored.namespace)
            assert meta["resourceVersion"] == str(stored.version)
            assert meta["uid"] == stored.uid != ""
            versions.add(stored.version)
            again = LocalClient(server, ADMINISTRATOR).update(resource, document)
            for each in (document, again):
                each["metadata"].pop("managedFields", None)
            assert again == document, "it is written back as it was"
        assert len(versions) == len(server.registry.store.set_of(resource.prefix))


@pytest.mark.slow
@patiently(150)
@given(st.lists(requests(), min_size=1, max_size=8))
def test_random_requests_get_answers(sent: list[Sent]) -> None:
    server = a_server()
    for each in sent:
        ask(server, each)
    check_store(server)


BARE = {"labels": None, "annotations": None, "finalizers": None, "ownerReferences": None}
WITH_STATUS = [
    each for each in RESOURCES if "status" in each.subresources and each.kind in BODIES and not each.same_prefix_as
]


@pytest.mark.parametrize("way", ["update", "patch"])
def test_defaults_hold_when_the_status_is_written(way: str) -> None:
    """What a write of the status leaves out is filled in as on any other way: objects are written back as they are."""
    server = a_server()
    for resource in WITH_STATUS:
        place = "/namespaces/default" if resource.namespaced else ""
        path = f"/{'apis' if resource.group else 'api'}/{resource.api_version}{place}/{resource.plural}/a/status"
        named = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": "a"}, "status": {}}
        if way == "update":
            sent = Sent("PUT", path, {}, {"content-type": "application/json"}, json.dumps(named).encode())
        else:
            patch = json.dumps({"metadata": BARE, "status": None}).encode()
            sent = Sent("PATCH", path, {}, {"content-type": "application/merge-patch+json"}, patch)
        ask(server, sent)
    check_store(server)


# -- over HTTP

TARGETS = st.one_of(
    requests().map(lambda sent: sent.path.encode("utf-8", "surrogatepass")),
    st.sampled_from(
        [
            b"/api/v1/nodes/%2e%2e/x",
            b"/api/v1/%6eodes",
            b"/%",
            b"/api/v1/nodes?%zz=%zz",
            b"*",
            b"http://x/healthz",
            b"/\xff",
        ]
    ),
    st.binary(max_size=12).map(lambda raw: b"/" + raw.replace(b" ", b"").replace(b"\r", b"").replace(b"\n", b"")),
)
HEADERS = st.lists(
    st.sampled_from(
        [
            b"Host: x",
            b"Host: x",
            b"Accept: application/json",
            b"Content-Type: application/json",
            b"Content-Type: \xff",
            b"Authorization: Bearer x",
            b"Impersonate-User: \xc3\xa9",
            b"Impersonate-Group: g",
            b"Expect: 100-continue",
            b"Expect: something",
            b"Connection: close",
            b"Upgrade: websocket",
            b"Accept-Encoding: gzip",
            b"X: " + b"y" * 70_000,
            b"no colon",
            b"Content-Length: 5",
            b"Transfer-Encoding: chunked",
            b"Transfer-Encoding: gzip",
        ]
    ),
    max_size=4,
)


@pytest.mark.slow
@patiently(100)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"GET", b"POST", b"PATCH", b"DELETE", b"FOO", b"", b"get"]),
            TARGETS,
            HEADERS,
            st.binary(max_size=30),
        ),
        min_size=1,
        max_size=3,
    )
)
@example([(b"POST", b"/api/v1/nodes", [b"Host: x", b"Transfer-Encoding: chunked"], b"zz\r\n")])
def test_random_bytes_do_not_end_the_server_or_hold_it_up(sent: list[tuple[bytes, bytes, list[bytes], bytes]]) -> None:
    async def play() -> None:
        http = HttpServer(a_server())
        await http.start()
        try:
            async with asyncio.timeout(SECONDS):
                for method, target, headers, body in sent:
                    lines = [b" ".join((method, target, b"HTTP/1.1")), *headers]
                    await _hold(http.port, b"\r\n".join((*lines, b"", body)))
                assert (await _exchange(http.port, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))[
                    -2:
                ] == b"ok"
        finally:
            await http.stop(0.1)

    asyncio.run(play())


async def _hold(port: int, sent: bytes) -> None:
    """Send bytes, and hold the first answer, if there is one, against what is true of every answer."""
    head, end, body = (await _exchange(port, sent)).partition(b"\r\n\r\n")
    if not end or head.startswith(b"HTTP/1.1 100"):
        return
    start, *lines = head.split(b"\r\n")
    code = int(start.split()[1])
    headers = dict(line.lower().split(b": ", 1) for line in lines)
    if code >= 400 and not sent.startswith(b"HEAD"):
        check_refusal(code, body[: int(headers[b"content-length"])])


async def _exchange(port: int, sent: bytes) -> bytes:
    """Return the beginning of what comes back when bytes are sent; nothing if the server waits for more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found = b""
    try:
        writer.write(sent)
        async with asyncio.timeout(PATIENCE):
            while not _is_whole(found) and (piece := await reader.read(100_000)):
                found += piece
    except (ConnectionError, TimeoutError):
        pass
    finally:
        writer.close()
    return found


def _is_whole(answer: bytes) -> bool:
    """Return whether an answer has come to its end, if that can be told."""
    head, end, body = answer.partition(b"\r\n\r\n")
    sizes = [line.split()[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return bool(end and sizes) and len(body) >= int(sizes[0])
