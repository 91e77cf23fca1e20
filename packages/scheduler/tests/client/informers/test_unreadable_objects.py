"""One object that cannot be read, in a list or a watch: the others are told, and it is told once it can be read."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.client.informers.reflector import Reflector
from kubesched.client.rest import Query, Refused
from kubesched.common.virtual_time import run_in_virtual_time

CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"
PODS = "/api/v1/pods"
END = {"metadata": {"resourceVersion": "90", "annotations": {"k8s.io/initial-events-end": "true"}}}


def metadata(name: str, version: int, uid: str = "") -> bytes:
    return b'{"name":"%s","namespace":"d","uid":"%s","resourceVersion":"%d"}' % (
        name.encode(),
        (uid or name).encode(),
        version,
    )


def a_claim(name: str, version: int, parameters: bytes = b"{}") -> bytes:
    return (
        b'{"metadata":%s,"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}],'
        b'"config":[{"opaque":{"driver":"d","parameters":%s}}]}}}'
    ) % (metadata(name, version), parameters)


def a_pod(name: str, version: int, spec: bytes = b"{}", uid: str = "") -> bytes:
    return b'{"metadata":%s,"spec":%s}' % (metadata(name, version, uid), spec)


class Server:
    """An API server that has some texts for objects, and says of a watch what it is told to say."""

    def __init__(self, *items: bytes, streams: bool = True) -> None:
        self.items = list(items)
        self.streams = streams
        self.version = 90
        self._said: asyncio.Queue[bytes] = asyncio.Queue()

    def say(self, what: str, obj: bytes) -> None:
        """Say something to whoever watches."""
        self._said.put_nowait(b'{"type":"%s","object":%s}\n' % (what.encode(), obj))

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return an object that says little."""
        return b'{"metadata":{"uid":"one","resourceVersion":"%d"}}' % self.version

    async def send(self, method: str, path: str, body: bytes | None = None, **more: object) -> bytes:
        """Never called."""
        raise AssertionError(method, path)

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator["Server.Body"]:
        """Give the list or the watch."""
        if "watch" not in query:
            meta = b'{"metadata":{"resourceVersion":"%d"},"items":[' % self.version
            yield Server.Body([meta + b",".join(self.items) + b"]}"])
        elif "sendInitialEvents" not in query:
            yield Server.Body([], self._said)
        elif self.streams:
            lines = [b'{"type":"ADDED","object":%s}\n' % item for item in self.items]
            yield Server.Body([*lines, b'{"type":"BOOKMARK","object":%s}\n' % json.dumps(END).encode()], self._said)
        else:
            raise Refused(400, "BadRequest", "sendInitialEvents is forbidden")

    class Body:
        """Texts, and what is said after that."""

        def __init__(self, pieces: list[bytes], said: "asyncio.Queue[bytes] | None" = None) -> None:
            self._pieces = pieces
            self._said = said

        async def iter_any(self) -> AsyncIterator[bytes]:
            """Yield the pieces."""
            for piece in self._pieces:
                yield piece
            while self._said is not None:
                yield await self._said.get()


class RecordingHandler:
    """Remembers what was told."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def put(self, obj: ApiObject) -> None:
        """Remember the version."""
        self.known[obj.name] = obj.metadata.resource_version

    def drop(self, obj: ApiObject) -> None:
        """Forget it."""
        del self.known[obj.name]


Story = Callable[[Server, Reflector[Any], RecordingHandler, list[str]], Coroutine[Any, Any, None]]


def follow(server: Server, kind: type[ApiObject], story: Story, path: str = CLAIMS) -> None:
    """Follow a kind for the length of a story, which begins when it is synced."""

    async def run() -> None:
        told, notes = RecordingHandler(), list[str]()
        reflector = Reflector(server, path, kind, told, note=notes.append)
        following = asyncio.create_task(reflector.run())
        async with asyncio.timeout(600):
            await reflector.synced.wait()
        try:
            await story(server, reflector, told, notes)
        finally:
            following.cancel()
            await asyncio.wait([following])

    run_in_virtual_time(run())


# accepted by kube-apiserver as opaque parameters, and sent as they came
OPAQUE = {
    "half a surrogate pair": b'{"a":"\\ud800"}',
    "half a pair as a key": b'{"\\udfff":1}',
    "bytes that are no UTF-8": b'{"a":"\xff\xfe"}',
    "lists nested 4900 deep": b"[" * 4900 + b"]" * 4900,
    "objects nested 1500 deep": b'{"a":' * 1500 + b"1" + b"}" * 1500,
    "lists nested nearly as deep as the decoder goes": b"[" * 900 + b"]" * 900,
    "a number beyond all bounds": b'{"a":1e999999}',
    "a number of 5000 digits": b'{"a":%s}' % (b"9" * 5000),
    "NUL": b'{"a":"\\u0000"}',
    "what looks like the next item": b'{"a":"},{\\"metadata\\":{"}',
}


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "in pages"])
@pytest.mark.parametrize("case", OPAQUE)
def test_opaque_parameters_are_not_needed_to_use_a_claim(case: str, streams: bool) -> None:
    parameters = OPAQUE[case]

    async def story(server: Server, reflector: Reflector[Any], told: RecordingHandler, notes: list[str]) -> None:
        assert told.known == {"one": "1", "strange": "2", "two": "3"}
        server.say("MODIFIED", a_claim("strange", 91, parameters))
        server.say("ADDED", a_claim("three", 92))
        await asyncio.sleep(1)
        assert told.known == {"one": "1", "strange": "91", "two": "3", "three": "92"}
        for obj in reflector.objects.values():
            assert obj.spec.devices.requests[0].exactly.device_class_name == "c"
        config = reflector.objects["d/strange"].spec.devices.config[0].opaque
        assert parameters in msgspec.json.encode(config), "an allocation takes them along as they are"
        server.say("DELETED", a_claim("strange", 93, parameters))
        await asyncio.sleep(1)
        assert "strange" not in told.known
        assert not [note for note in notes if "left out" in note]

    claims = (a_claim("one", 1), a_claim("strange", 2, parameters), a_claim("two", 3))
    follow(Server(*claims, streams=streams), ResourceClaim, story)


# each is what follows the metadata of an object; a word of what is said about it
UNREADABLE = {
    "a field of the wrong type": (b'{"priority":"high"}', "spec.priority: expected an integer"),
    "a number beyond all bounds": (b'{"priority":1e400}', "JSON is malformed"),
    "no object": (b"[]", "spec: expected a mapping, got a list"),
    "brackets that do not match": (b'{"tolerations":[{]}}', "JSON is malformed"),
    "two commas": (b'{"priority":1,,"a":2}', "JSON is malformed"),
}


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "in pages"])
@pytest.mark.parametrize("case", UNREADABLE)
def test_an_object_that_cannot_be_read_is_left_out_alone(case: str, streams: bool) -> None:
    spec, why = UNREADABLE[case]

    async def story(server: Server, reflector: Reflector[Any], told: RecordingHandler, notes: list[str]) -> None:
        assert told.known == {"one": "1", "two": "3"}
        server.say("MODIFIED", a_pod("strange", 91, spec))
        server.say("MODIFIED", a_pod("one", 92, spec))
        await asyncio.sleep(1)
        assert told.known == {"two": "3"}, "what cannot be read any more cannot be used any more"
        assert reflector.version == "92"
        server.say("DELETED", a_pod("strange", 93, spec))
        server.say("MODIFIED", a_pod("one", 94))
        server.say("ADDED", a_pod("strange", 95))
        await asyncio.sleep(1)
        assert told.known == {"two": "3", "one": "94", "strange": "95"}, "a later version that can be read counts"
        said = [note for note in notes if "cannot be read and is left out" in note]
        assert [why in note for note in said] == [True, True]
        assert ["Pod d/strange" in said[0], "Pod d/one" in said[1]] == [True, True]

    follow(Server(a_pod("one", 1), a_pod("strange", 2, spec), a_pod("two", 3), streams=streams), Pod, story, PODS)


def test_a_pod_on_a_node_keeps_its_room_while_it_cannot_be_read() -> None:
    async def story(server: Server, reflector: Reflector[Any], told: RecordingHandler, notes: list[str]) -> None:
        server.say("MODIFIED", a_pod("placed", 91, b'{"nodeName":"n","priority":"high"}'))
        server.say("MODIFIED", a_pod("waiting", 92, b'{"priority":"high"}'))
        await asyncio.sleep(1)
        assert told.known == {"placed": "1"}
        server.items = [a_pod("placed", 91, b'{"priority":"high"}'), a_pod("late", 93)]
        server.version = 93
        reflector.relist()
        await asyncio.sleep(60)
        assert told.known == {"placed": "1", "late": "93"}
        server.items = [a_pod("placed", 94, b'{"priority":"high"}', uid="another"), a_pod("late", 93)]
        reflector.relist()
        await asyncio.sleep(60)
        assert told.known == {"late": "93"}, "another pod has taken the name"

    follow(Server(a_pod("placed", 1, b'{"nodeName":"n"}'), a_pod("waiting", 2)), Pod, story, PODS)


NAMES = {
    "emoji": "😀" * 50,
    "right-to-left marks": "\u202e\u200fabc",
    "NUL": "a\\u0000b",
    "half a surrogate pair": "a\\ud800b",
    "100 000 characters": "x" * 100_000,
    "slashes": "../../nodes",
}


@pytest.mark.parametrize("case", NAMES)
def test_strange_names(case: str) -> None:
    async def story(server: Server, reflector: Reflector[Any], told: RecordingHandler, notes: list[str]) -> None:
        assert set(told.known.values()) == {"1", "2", "3"}
        server.say("DELETED", a_pod(NAMES[case], 91))
        await asyncio.sleep(1)
        assert told.known == {"one": "1", "two": "3"}
        for name in told.known:
            name.encode()

    follow(Server(a_pod("one", 1), a_pod(NAMES[case], 2), a_pod("two", 3)), Pod, story, PODS)


def test_an_object_without_a_name_is_left_out_since_its_path_would_be_that_of_all() -> None:
    async def story(server: Server, reflector: Reflector[Any], told: RecordingHandler, notes: list[str]) -> None:
        assert told.known == {"one": "1"}
        assert set(notes) == {f"an object of {PODS} cannot be read and is left out: Pod without a name"}

    follow(Server(a_pod("", 2), a_pod("one", 1), b"{}"), Pod, story, PODS)


def test_what_is_said_of_an_object_is_said_once() -> None:
    async def story(server: Server, reflector: Reflector[Any], told: RecordingHandler, notes: list[str]) -> None:
        for version in range(91, 191):
            server.say("MODIFIED", a_pod("strange", version, b'{"priority":"high"}'))
        await asyncio.sleep(1)
        assert len(notes) == 1
        server.say("MODIFIED", a_pod("strange", 200, b'{"priority":"low"}'))
        await asyncio.sleep(1)
        assert len(notes) == 2

    follow(Server(a_pod("strange", 2, b'{"priority":"high"}')), Pod, story, PODS)
