"""Recordings of a cluster in virtual time: through outages and lists, to a limit, and on from a file that was torn."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from tests.support.roles import a_binding, a_role, a_rule, create

from kubesched.api.nodes import Node
from kubesched.common.virtual_time import BEGINNING, START, run_in_virtual_time
from kubesched.config.document import parse
from kubesched.errors import KubeschedError
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.running import new_server
from kubesched_controlplane.transport.faults import Dice, parse_faults
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.local_rest import LocalRest
from kubesched_lab.record.recording_file import RecordingFile
from kubesched_lab.record.resuming import read_end
from kubesched_lab.record.session import UNLIMITED, Limits, RecordingProgress, RecordingSession
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival
from kubesched_lab.simulate.traces.trace_file import trace_of_file

Document = dict[str, Any]
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}, "status": {"capacity": {"cpu": "4"}}}


class RecordedCluster:
    """A server whose objects are changed while it is recorded."""

    def __init__(self, path: Path, user: User = ADMINISTRATOR, *, faults: str = "", seed: int = 1) -> None:
        self.path = path
        self.server = new_server({}, seed=1)
        self.transport = Transport(self.server, Dice(parse_faults(faults), seed) if faults else None)
        self.client = LocalClient(self.server, ADMINISTRATOR)
        self.pods = self.client.resource("v1", "Pod")
        self.notes: list[str] = []
        self._user = user

    def session(self, limits: Limits, *, resume: bool = False) -> RecordingSession:
        loop = asyncio.get_running_loop()
        file = RecordingFile(self.path, resume=resume)
        state = read_end(self.path) if resume else None
        return RecordingSession(
            LocalRest(self.transport, self._user),
            file,
            limits,
            state=state,
            note=self.notes.append,
            date=lambda: BEGINNING + timedelta(seconds=loop.time() - START),
        )

    async def record(
        self, story: Callable[[], Awaitable[None]], limits: Limits = UNLIMITED, *, resume: bool = False
    ) -> RecordingProgress:
        """Record while a story goes on, and until the limits end it, if there are any."""
        self.transport.start()
        session = self.session(limits, resume=resume)
        task = asyncio.create_task(session.run())
        await asyncio.sleep(1)
        while not task.done() and not self.path.stat().st_size:
            await asyncio.sleep(1)
        await story()
        await asyncio.sleep(1)
        if limits == UNLIMITED:
            session.stop.set()
        try:
            return await task
        finally:
            self.transport.stop()

    def create_pod(self, name: str) -> None:
        spec = {"containers": [{"name": "main", "image": "i", "env": [{"name": "PASSWORD", "value": "secret"}]}]}
        meta = {"name": name, "namespace": "default", "annotations": {"team": "blue"}}
        self.client.create(self.pods, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})

    def bind(self, name: str) -> None:
        target = {"kind": "Node", "name": "node-1"}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        self.client.create_at(self.pods, ("default", name), "binding", body)

    def finish(self, name: str) -> None:
        self.client.patch(self.pods, "default", name, {"status": {"phase": "Succeeded"}}, "status")

    def delete_pod(self, name: str) -> None:
        self.client.delete(self.pods, "default", name, {"gracePeriodSeconds": 0})


def lines_of(path: Path) -> list[Document]:
    content = path.read_bytes()
    text = gzip.decompress(content) if path.suffix == ".gz" else content
    return [msgspec.json.decode(line) for line in text.splitlines()]


def told(path: Path) -> list[tuple[str, str]]:
    """Return what happened after the beginning, without times."""
    found = []
    for line in lines_of(path)[1:]:
        if line["at"]:
            (kind, value), *_ = [(name, value) for name, value in line.items() if name not in ("at", "ran", "node")]
            found.append((kind, value if isinstance(value, str) else value["metadata"]["name"]))
    return found


def recording(path: Path, story: Callable[[RecordedCluster], Awaitable[None]], **given: Any) -> RecordedCluster:
    cluster = RecordedCluster(path)
    create(cluster.server, NODE)
    run_in_virtual_time(cluster.record(lambda: story(cluster), **given))
    return cluster


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_recording_is_a_trace(tmp_path: Path, name: str) -> None:
    async def story(cluster: RecordedCluster) -> None:
        cluster.create_pod("job")
        await asyncio.sleep(2)
        cluster.bind("job")
        await asyncio.sleep(10)
        cluster.finish("job")

    path = tmp_path / name
    recording(path, story)
    assert told(path) == [("object", "job"), ("bound", "default/job"), ("ended", "default/job")]
    assert b"secret" not in path.read_bytes() or path.suffix == ".gz"
    assert path.stat().st_mode & 0o077 == 0
    for durations, runs, deleted in ((Durations.COMPLETED, 10.0, False), (Durations.NONE, None, True)):
        events = list(trace_of_file(path, durations).events(0))
        assert any(isinstance(event, ObjectPut) and isinstance(event.obj, Node) for event in events)
        (arrival,) = [event for event in events if isinstance(event, PodArrival)]
        assert arrival.runs == (None if runs is None else pytest.approx(runs, abs=0.1))
        assert arrival.pod.spec.node_name == ""
        assert any(isinstance(event, ObjectDeletion) for event in events) == deleted


def test_nothing_is_lost_or_told_twice_when_the_server_is_away(tmp_path: Path) -> None:
    async def story(cluster: RecordedCluster) -> None:
        cluster.create_pod("before")
        cluster.create_pod("short")
        await asyncio.sleep(1)
        cluster.transport.go_away(20)
        cluster.create_pod("meanwhile")
        cluster.bind("meanwhile")
        cluster.delete_pod("short")
        await asyncio.sleep(60)
        cluster.create_pod("after")

    path = tmp_path / "a.jsonl"
    recording(path, story)
    assert sorted(told(path)) == sorted(
        [
            ("object", "before"),
            ("object", "short"),
            ("object", "meanwhile"),
            ("bound", "default/meanwhile"),
            ("delete", "Pod/default/short"),
            ("object", "after"),
        ]
    )


class Churn:
    """Pods that come, are bound, change and go, and nodes that are labelled, at random."""

    def __init__(self, cluster: RecordedCluster, seed: int) -> None:
        self._cluster = cluster
        self._random = Random(seed)
        self._waiting: list[str] = []
        self._bound: list[str] = []
        self._made = 0

    async def go_on(self, steps: int) -> None:
        for _ in range(steps):
            await asyncio.sleep(self._random.expovariate(0.5))
            self._step(self._random.random())

    def _step(self, dice: float) -> None:
        cluster, random = self._cluster, self._random
        if dice < 0.4 or not self._waiting:
            # some names come again
            name = f"pod-{self._made % 40}" if self._made % 3 else f"other-{self._made}"
            self._made += 1
            if name not in (*self._waiting, *self._bound):
                cluster.create_pod(name)
                self._waiting.append(name)
        elif dice < 0.6:
            name = self._waiting.pop(random.randrange(len(self._waiting)))
            cluster.bind(name)
            self._bound.append(name)
        elif dice < 0.7:
            cluster.delete_pod(self._waiting.pop())
        elif dice < 0.8 and self._bound:
            cluster.delete_pod(self._bound.pop(random.randrange(len(self._bound))))
        elif dice < 0.9 and self._bound:
            name = self._bound.pop(0)
            cluster.finish(name)
            cluster.delete_pod(name)
        else:
            node = cluster.client.resource("v1", "Node")
            cluster.client.patch(node, "", "node-1", {"metadata": {"labels": {"number": str(random.randrange(99))}}})


def state_at_end(path: Path) -> dict[tuple[str, str], Document]:
    """Return the objects that are there at the end of a recording; no line may contradict those before it."""
    there: dict[tuple[str, str], Document] = {}
    for line in lines_of(path)[1:]:
        document = line.get("object") or line.get("change")
        if document is not None:
            meta = document["metadata"]
            key = (document["kind"], "/".join(filter(None, (meta.get("namespace"), meta["name"]))))
            assert ("change" in line) == (key in there), line
            there[key] = {**document, "node": there.get(key, {}).get("node")}
        elif "bound" in line:
            assert there["Pod", line["bound"]]["node"] is None
            there["Pod", line["bound"]]["node"] = line["node"]
        else:
            kind, _, name = line.get("delete", f"Pod/{line.get('ended')}").partition("/")
            assert (kind, name) in there, line
            del there[kind, name]
    return there


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_end_is_as_the_cluster_is_whatever_goes_wrong(tmp_path: Path, seed: int) -> None:
    faults = (
        "lost-request=0.05,lost-response=0.03,unavailable=0.05,too-many-requests=0.05:2s,slow=0.1:1s,"
        "watch-duplicate=0.2,watch-delay=0.1:3s,watch-expire=60s,outage=90s:15s"
    )
    path = tmp_path / "a.jsonl"
    cluster = RecordedCluster(path, faults=faults, seed=seed)
    create(cluster.server, NODE)
    churn = Churn(cluster, seed)

    async def story() -> None:
        await churn.go_on(150)
        # everything is reported in the end
        await asyncio.sleep(120)

    run_in_virtual_time(cluster.record(story))
    # while nobody records
    cluster.transport.come_back()
    run_in_virtual_time(churn.go_on(20))
    run_in_virtual_time(cluster.record(story, resume=True))
    there = state_at_end(path)
    stored = {
        (f"{each.namespace}/{each.name}", each.uid, each.fields.get("spec.nodeName") or None)
        for each in cluster.client.stored(cluster.pods)
        if each.fields.get("status.phase") not in ("Succeeded", "Failed")
    }
    assert {
        (name, document["metadata"]["uid"], document["node"])
        for (kind, name), document in there.items()
        if kind == "Pod"
    } == stored
    node = cluster.client.get(cluster.client.resource("v1", "Node"), "", "node-1")
    assert node is not None
    assert there["Node", "node-1"]["metadata"].get("labels") == node["metadata"].get("labels")
    times = [line["at"] for line in lines_of(path)[1:]]
    assert times == sorted(times)


def test_a_recording_ends_by_its_limits(tmp_path: Path) -> None:
    async def story(cluster: RecordedCluster) -> None:
        for number in range(5):
            cluster.create_pod(f"pod-{number}")

    def ended(limits: Limits) -> RecordingProgress:
        cluster = RecordedCluster(tmp_path / f"{limits.seconds}-{limits.size}-{limits.events}.jsonl")
        return run_in_virtual_time(cluster.record(lambda: story(cluster), limits))

    assert ended(Limits(seconds=30)).seconds == pytest.approx(30, abs=1)
    assert ended(Limits(events=3)).events == 3
    assert len(told(tmp_path / "None-None-3.jsonl")) == 3
    assert ended(Limits(size=100)).size >= 100


@pytest.mark.parametrize(("name", "torn"), [("a.jsonl", b'{"at": 3, "obj'), ("a.jsonl.gz", b"\x1f\x8b\x08\x00\x00")])
def test_a_recording_goes_on_with_the_differences(tmp_path: Path, name: str, torn: bytes) -> None:
    path = tmp_path / name

    async def first(cluster: RecordedCluster) -> None:
        cluster.create_pod("stays")
        cluster.create_pod("goes")
        cluster.bind("goes")

    async def nothing() -> None:
        pass

    cluster = recording(path, first)
    with path.open("ab") as file:
        file.write(torn)
    # a torn end is no obstacle to a simulation
    before = len(list(trace_of_file(path).events(0)))
    cluster.create_pod("comes")
    cluster.bind("comes")
    cluster.delete_pod("goes")
    run_in_virtual_time(cluster.record(nothing, resume=True))
    assert told(path) == [
        ("object", "stays"),
        ("object", "goes"),
        ("bound", "default/goes"),
        ("ended", "default/goes"),
        ("object", "comes"),
        ("bound", "default/comes"),
    ]
    # a scheduler has chosen its node meanwhile
    assert "nodeName" not in lines_of(path)[-2]["object"]["spec"]
    assert len(list(trace_of_file(path).events(0))) == before + 1
    times = [line["at"] for line in lines_of(path)[1:]]
    assert times == sorted(times)


def test_a_second_list_without_differences_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"

    async def nothing() -> None:
        pass

    cluster = RecordedCluster(path)
    create(cluster.server, NODE)
    cluster.create_pod("a")
    cluster.bind("a")
    run_in_virtual_time(cluster.record(nothing))
    before = path.read_bytes()
    run_in_virtual_time(cluster.record(nothing, resume=True))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not a recording of kubesched record"),
        (b'{"at": 0, "delete": "Pod/x"}\n', "is not a recording of kubesched record"),
        (b'{"recording": {"version": 9}}\n', "of version 9, of a newer kubesched"),
        (b'{"recording": {"version": 1, "anonymised": true}}\n', "the key of its codes is not stored"),
        (b'{"recording": {"version": 1, "began": "2026-01-01T00:00:00Z"}}\n[]\n', "line 2: Expected `object`"),
    ],
)
def test_a_file_that_cannot_go_on_is_told(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(KubeschedError, match=why):
        read_end(path)


def with_rights(path: Path, *rules: Document) -> RecordedCluster:
    cluster = RecordedCluster(path, User("anna"))
    create(cluster.server, NODE, a_role("annas", *rules), a_binding("annas", "annas", "User anna"))
    return cluster


async def nobody() -> None:
    pass


def test_a_kind_without_rights_is_left_out_and_told(tmp_path: Path) -> None:
    cluster = with_rights(tmp_path / "a.jsonl", a_rule("get list watch", "nodes pods"))
    run_in_virtual_time(cluster.record(nobody))
    assert any(note.startswith("left out: StorageClass: ") and "cannot list" in note for note in cluster.notes)
    header = lines_of(cluster.path)[0]["recording"]
    assert "StorageClass" in header["leftOut"]
    assert "Node" not in header["leftOut"]


@pytest.mark.parametrize("verbs", ["watch", "list"])
def test_without_rights_to_pods_there_is_nothing_to_record(tmp_path: Path, verbs: str) -> None:
    cluster = with_rights(tmp_path / "a.jsonl", a_rule("get list watch", "nodes"), a_rule(verbs, "pods"))
    with pytest.raises(KubeschedError, match=r"no cluster to follow: add the rule .*resources: \[pods\]"):
        run_in_virtual_time(cluster.record(nobody))
    assert not cluster.path.exists()


def test_the_role_that_comes_along_is_all_that_is_needed(tmp_path: Path) -> None:
    role = parse(Path("examples/simulate/recorder-role.yaml").read_bytes())
    cluster = RecordedCluster(tmp_path / "a.jsonl", User("anna"))
    create(cluster.server, NODE, role, a_binding("annas", role["metadata"]["name"], "User anna"))
    run_in_virtual_time(cluster.record(nobody))
    assert cluster.notes == []
    assert lines_of(cluster.path)[0]["recording"]["leftOut"] == []
