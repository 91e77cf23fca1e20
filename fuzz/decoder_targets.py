"""Targets that read bytes from elsewhere: API servers, users' files, extenders, tenants' expressions."""

import asyncio
import gzip
import json
import re
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kubesched.api.codec import decode_json, encode
from kubesched.api.devices import Device, DeviceAttribute, ResourceClaim
from kubesched.api.kinds import KINDS
from kubesched.api.label_syntax import parse_selector
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.quantity import DECIMAL_SI, MAX_TEXT, parse_quantity
from kubesched.cel import CelRuntimeError
from kubesched.cel.selectors import CompiledSelector
from kubesched.client.credentials.kubeconfig import read_kubeconfig
from kubesched.client.informers.reflector import Reflector
from kubesched.client.informers.watch_events import INITIAL_EVENTS_END
from kubesched.client.rest import Query
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.golang import parse_duration
from kubesched.config.load import load
from kubesched.errors import KubeschedError
from kubesched_answers.sources.snapshots import read_snapshot, snapshot_bytes

DEVICE = Device(name="gpu-0", attributes={"a": DeviceAttribute(int_value=1), "b": DeviceAttribute(string_value="x")})
LONGEST_EXPRESSION = 10_240
_TEXT = rb'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_SCALAR = rb"\s*(?:" + _TEXT + rb"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)\s*"
_MEMBER = rb"\s*" + _TEXT + rb"\s*:" + _SCALAR
_INNERMOST = re.compile(rb"\[(?:\s*|%s(?:,%s)*)\]|\{(?:\s*|%s(?:,%s)*)\}" % (_SCALAR, _SCALAR, _MEMBER, _MEMBER))


def text_of(data: bytes) -> str:
    """Return bytes as the text that they may be."""
    return data.decode("utf-8", "replace")


def objects(data: bytes) -> None:
    """An object of any kind is read, or refused with a sentence; what was read can be written and read again."""
    kinds = tuple(KINDS.values())
    kind = kinds[data[0] % len(kinds)] if data else Pod
    try:
        obj = decode_json(kind, data[1:])
    except KubeschedError:
        return
    # what it says of its kind is written as it should be
    once = decode_json(kind, encode(obj))
    assert decode_json(kind, encode(once)) == once


# -- lists and watches: one object must not stop the others


class _Stream:
    """The body of an answer, in pieces."""

    def __init__(self, pieces: list[bytes], *, ends: bool) -> None:
        self._pieces = pieces
        self._ends = ends

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield the pieces; a watch then goes on for ever."""
        for piece in self._pieces:
            await asyncio.sleep(0)
            yield piece
        if not self._ends:
            await asyncio.get_running_loop().create_future()


class _Server:
    """An API server that sends one list, by stream or in one page."""

    def __init__(self, data: bytes, *, streams: bool) -> None:
        self._streams = streams
        self._data = data
        cut = (data[0] if data else 1) or 1
        self._cut = cut * 7

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return nothing of interest."""
        return b"{}"

    async def send(self, method: str, path: str, body: bytes | None = None, **more: Any) -> bytes:
        """Return nothing of interest."""
        return b"{}"

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator[_Stream]:
        """Give the list, with one object that is whatever the data are, between good ones."""
        if "watch" not in query:
            yield _Stream(self._pieces(self._page()), ends=True)
        elif self._streams and "sendInitialEvents" in query:
            yield _Stream(self._pieces(self._events()), ends=False)
        elif "sendInitialEvents" in query:
            yield _Stream([], ends=True)
        else:
            yield _Stream([], ends=False)

    def _pieces(self, body: bytes) -> list[bytes]:
        return [body[at : at + self._cut] for at in range(0, len(body), self._cut)]

    def _events(self) -> bytes:
        good = [b'{"type":"ADDED","object":' + _good(name) + b"}" for name in ("a", "z")]
        mark: dict[str, Any] = {"metadata": {"resourceVersion": "9", "annotations": {INITIAL_EVENTS_END: "true"}}}
        end = json.dumps({"type": "BOOKMARK", "object": mark}).encode()
        return b"\n".join((good[0], b'{"type":"ADDED","object":' + self._data + b"}", good[1], end, b""))

    def _page(self) -> bytes:
        items = b",".join((_good("a"), self._data, _good("z")))
        return b'{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[' + items + b"]}"


def _good(name: str) -> bytes:
    meta = {"name": name, "namespace": "good", "uid": name, "resourceVersion": "5"}
    return json.dumps({"metadata": meta}).encode()


class _Told:
    def __init__(self) -> None:
        self.names: set[str] = set()

    def put(self, obj: ApiObject) -> None:
        self.names.add(obj.full_name)

    def drop(self, obj: ApiObject) -> None:
        self.names.discard(obj.full_name)


def _is_sent(data: bytes) -> bool:
    """Return whether an API server may send this as an object: JSON on one line."""
    if b"\n" in data or b"\r" in data or not data.startswith(b"{"):
        return False
    try:
        json.loads(data, parse_constant=_no_number)
    except RecursionError:
        return _is_deep_json(data)
    except ValueError:
        return False
    return True


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _is_deep_json(data: bytes) -> bool:
    """Return whether a text is JSON that is nested deeper than Python goes: what is innermost is collapsed in turn."""
    before = b""
    while data != before:
        before, data = data, _INNERMOST.sub(b"0", data)
    return data.strip() == b"0"


def _listed(data: bytes, kind: type[ApiObject], *, streams: bool) -> None:
    if not _is_sent(data):
        return
    told = _Told()

    async def follow() -> None:
        reflector = Reflector(_Server(data, streams=streams), "/things", kind, told)  # type: ignore[arg-type]
        task = asyncio.ensure_future(reflector.run())
        try:
            await asyncio.wait_for(reflector.synced.wait(), 300)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run_in_virtual_time(follow())
    assert {"good/a", "good/z"} <= told.names, "an object keeps others from being seen"


def streamed_pods(data: bytes) -> None:
    """Pods beside one that is whatever it is are seen in a streamed list."""
    _listed(data, Pod, streams=True)


def paged_pods(data: bytes) -> None:
    """Pods beside one that is whatever it is are seen in a page."""
    _listed(data, Pod, streams=False)


def streamed_claims(data: bytes) -> None:
    """Claims beside one that is whatever it is are seen in a streamed list."""
    _listed(data, ResourceClaim, streams=True)


def paged_claims(data: bytes) -> None:
    """Claims beside one that is whatever it is are seen in a page."""
    _listed(data, ResourceClaim, streams=False)


# -- users' files


def configurations(data: bytes) -> None:
    """A configuration is loaded, or refused with a sentence."""
    _refused(lambda: load(text_of(data)))


def kubeconfigs(data: bytes) -> None:
    """A kubeconfig is read, or refused with a sentence."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        _refused(lambda: read_kubeconfig(Path(file.name)))


# -- texts of tenants


def quantities(data: bytes) -> None:
    """A quantity is read, or refused; its canonical text is read as the same amount, unless it is too long."""
    found = _refused(lambda: parse_quantity(text_of(data)))
    # as the reference, which has no decimal suffix for multiples of 1e21 and writes them without one
    if found is not None and (found.format != DECIMAL_SI or abs(found.unscaled) * 10 ** (found.exponent + 9) < 10**30):
        canonical = str(found)
        # texts are read up to a length, and the canonical one can be two digits longer
        if len(canonical) <= MAX_TEXT:
            assert parse_quantity(canonical).compare(found) == 0


def label_selectors(data: bytes) -> None:
    """A selector is read, or refused; so is its own text."""
    found = _refused(lambda: parse_selector(text_of(data)))
    if found is not None:
        parse_selector(str(found))


def durations(data: bytes) -> None:
    """A duration is read, or refused."""
    try:
        parse_duration(text_of(data))
    except ValueError:
        return


def device_selectors(data: bytes) -> None:
    """An expression has a verdict on a device, or an error of CEL."""
    selector = CompiledSelector(text_of(data)[:LONGEST_EXPRESSION], list_attributes=True)
    if not selector.error:
        try:
            selector.matches("d", DEVICE)
        except CelRuntimeError:
            return


def snapshots(data: bytes) -> None:
    """A snapshot, packed or not, is read or refused with a sentence; what was read can be written and read again."""
    for content in (data, gzip.compress(data, 0)):
        cluster = _refused(lambda content=content: read_snapshot("file", content))
        if cluster is not None:
            again = read_snapshot("file", snapshot_bytes(cluster))
            assert len(again.objects) == len(cluster.objects)


def _refused(run: Callable[[], Any]) -> Any:
    """Return what comes of it, None if it is refused with a sentence."""
    try:
        return run()
    except KubeschedError as error:
        if not str(error):
            raise AssertionError("an error without a sentence") from error
        return None


TARGETS: tuple[Callable[[bytes], None], ...] = (
    objects,
    streamed_pods,
    paged_pods,
    streamed_claims,
    paged_claims,
    configurations,
    kubeconfigs,
    quantities,
    label_selectors,
    durations,
    device_selectors,
    snapshots,
)
