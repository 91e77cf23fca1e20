"""The thread of leader election against a Lease API on a real socket, while the scheduler's own loop is blocked."""

import asyncio
import json
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubesched.client.election.candidates import CandidateVersions, LeaseCandidateKeeper
from kubesched.client.election.leader_elector import ElectionObserver, ElectionSettings
from kubesched.client.election.leader_thread import LAST_WORDS_SECONDS, ExitingObserver, LeaderThread
from kubesched.client.rest import RestClient, RestConfig
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.http import HttpServer
from kubesched_controlplane.transport.local_client import LocalClient

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
CANDIDATES = "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates"
SECONDS = 30.0


class LeaseApi:
    """One Lease and its events, served by a thread of its own; it can be told to be silent."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.events: list[dict[str, Any]] = []
        self.agents: set[str] = set()
        self.renewals: list[float] = []
        self.silent = False
        self.url = ""
        self._started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "LeaseApi":
        self._thread.start()
        assert self._started.wait(SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)

    def _serve(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _handle(self, request: web.Request) -> web.Response:
        self.agents.add(request.headers["User-Agent"])
        while self.silent:
            await asyncio.sleep(0.01)
        if request.path == "/api/v1/namespaces/kube-system/events":
            self.events.append(await request.json())
            return web.json_response(self.events[-1], status=201)
        if request.method == "GET":
            return _answer(self.lease, 200) if self.lease else _refusal(404, "NotFound")
        sent = await request.json()
        if request.method == "POST" and self.lease is not None:
            return _refusal(409, "AlreadyExists")
        if request.method == "PUT" and (
            self.lease is None or sent["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"]
        ):
            return _refusal(409, "Conflict")
        self.version += 1
        sent["metadata"] |= {"resourceVersion": str(self.version), "uid": "u-1"}
        self.lease = sent
        self.renewals.append(time.monotonic())
        return _answer(sent, 201 if request.method == "POST" else 200)


def _answer(document: dict[str, Any], status: int) -> web.Response:
    return web.json_response(document, status=status)


def _refusal(code: int, reason: str) -> web.Response:
    return web.json_response({"kind": "Status", "code": code, "reason": reason, "message": reason}, status=code)


class Watcher(ElectionObserver):
    """Writes down what it is told, and in which thread."""

    def __init__(self) -> None:
        self.led = threading.Event()
        self.over = threading.Event()
        self.reason = ""
        self.lost_at = 0.0
        self.threads: set[str] = set()

    def became_leader(self) -> None:
        self.threads.add(threading.current_thread().name)
        self.led.set()

    def lost(self, reason: str) -> None:
        self.threads.add(threading.current_thread().name)
        self.reason, self.lost_at = reason, time.monotonic()
        self.over.set()

    def stopped(self) -> None:
        self.over.set()


async def no_headers() -> Mapping[str, str]:
    return {}


@asynccontextmanager
async def embedded() -> AsyncIterator[RestConfig]:
    """Give the embedded API server."""
    server = ApiServer(access=always_allow, seed=1)
    bootstrap(LocalClient(server, ADMINISTRATOR))
    http = HttpServer(server)
    await http.start()
    try:
        async with asyncio.timeout(SECONDS):
            yield RestConfig(http.url, no_headers)
    finally:
        await http.stop(0.5)


# leases last for seconds, and their lengths are whole ones
QUICK = ElectionSettings("me", "kube-system", "kube-scheduler", 2.0, 1.5, 0.2)
# long enough for a thread to have its turn on a machine that is busy with other things
PATIENT = ElectionSettings("me", "kube-system", "kube-scheduler", 4.0, 3.0, 0.2)


def standing(
    url: str, observer: ElectionObserver, notes: list[str], settings: ElectionSettings = QUICK
) -> LeaderThread:
    return LeaderThread(RestConfig(url, no_headers), settings, "kubesched/v1", observer, note=notes.append)


@pytest.fixture
def api() -> Iterator[LeaseApi]:
    with LeaseApi() as served:
        yield served


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@pytest.mark.parametrize("block", [sleep, spin])
def test_the_lease_is_renewed_while_the_scheduler_is_blocked(block: Callable[[float], None], api: LeaseApi) -> None:
    async def play() -> None:
        watcher, notes = Watcher(), list[str]()
        leader = standing(api.url, watcher, notes, PATIENT)
        leader.start()
        async with asyncio.timeout(SECONDS):
            await asyncio.wrap_future(leader.leading)
        seen = len(api.renewals)
        # longer than the lease lasts; no other task of this loop has a turn
        block(PATIENT.lease_seconds + 0.5)
        gaps = [later - earlier for earlier, later in pairwise(api.renewals)]
        assert len(api.renewals) - seen >= 6
        assert max(gaps) < PATIENT.renew_seconds
        assert not watcher.over.is_set()
        assert leader.check() is None
        assert leader.stop(SECONDS)
        assert watcher.threads == {"leader-election"}

    asyncio.run(play())


def test_a_lost_lease_is_told_at_once_from_the_thread_while_the_scheduler_is_blocked(api: LeaseApi) -> None:
    watcher, notes = Watcher(), list[str]()
    leader = standing(api.url, watcher, notes)
    leader.start()
    assert watcher.led.wait(SECONDS)
    api.silent = True
    last = api.renewals[-1]
    # this thread waits, as a blocked loop would
    assert watcher.over.wait(SECONDS)
    assert watcher.reason == "it was not renewed within 1.5 s"
    assert watcher.threads == {"leader-election"}
    # it has to be told by the end of the lease; a busy machine may be late by a little
    assert QUICK.renew_seconds - 0.1 <= watcher.lost_at - last <= QUICK.lease_seconds + 3
    api.silent = False


def test_the_lease_is_given_up_on_request_and_events_tell_of_it(api: LeaseApi) -> None:
    watcher, notes = Watcher(), list[str]()
    leader = standing(api.url, watcher, notes)
    leader.start()
    assert watcher.led.wait(SECONDS)
    assert leader.stop(SECONDS)
    assert watcher.over.is_set()
    assert watcher.reason == ""
    assert api.lease is not None
    spec = api.lease["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("", 1, 0)
    assert len(spec["renewTime"]) == len("2026-01-01T00:00:00.000000Z")
    assert [event["message"] for event in api.events] == ["me became leader", "me stopped leading"]
    event = api.events[0]
    assert event["metadata"]["name"].startswith("kube-scheduler.")
    assert event["involvedObject"] == {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "namespace": "kube-system",
        "name": "kube-scheduler",
        "uid": "u-1",
        "resourceVersion": "1",
    }
    assert (event["reason"], event["type"], event["count"]) == ("LeaderElection", "Normal", 1)
    assert event["source"] == {"component": "default-scheduler"}
    assert api.agents == {"kubesched/v1/leader-election"}


def test_what_others_keep_in_the_lease_stays_there(api: LeaseApi) -> None:
    api.lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler", "resourceVersion": "0", "labels": {"a": "b"}, "future": [1]},
        "spec": {"holderIdentity": "", "leaseTransitions": 4},
    }
    watcher, notes = Watcher(), list[str]()
    leader = standing(api.url, watcher, notes)
    leader.start()
    assert watcher.led.wait(SECONDS)
    assert leader.stop(SECONDS)
    assert api.lease["metadata"]["labels"] == {"a": "b"}
    assert api.lease["metadata"]["future"] == [1]
    assert api.lease["spec"]["leaseTransitions"] == 5


def test_a_silent_server_does_not_hold_up_the_end(api: LeaseApi) -> None:
    watcher, notes = Watcher(), list[str]()
    leader = standing(api.url, watcher, notes, ElectionSettings("me", "kube-system", "kube-scheduler", 30.0, 20.0, 0.2))
    leader.start()
    assert watcher.led.wait(SECONDS)
    api.silent = True
    began = time.monotonic()
    leader.stop(0.5)
    # and not after the 20 s in which it may be renewed
    assert time.monotonic() - began < 10.0
    assert watcher.over.wait(SECONDS)
    assert notes[-1] == "lease kube-system/kube-scheduler could not be released in time"
    api.silent = False


def test_an_election_that_was_stopped_before_it_began(api: LeaseApi) -> None:
    watcher = Watcher()
    leader = standing(api.url, watcher, [])
    assert leader.stop(0.1)
    leader.start()
    assert watcher.over.wait(SECONDS)
    assert api.lease is None
    assert leader.stop(SECONDS), "it may be said again"


def test_a_failure_of_the_election_itself_is_a_loss(api: LeaseApi) -> None:
    class Broken(Watcher):
        def became_leader(self) -> None:
            raise RuntimeError("of the observer")

    watcher = Broken()
    standing(api.url, watcher, []).start()
    assert watcher.over.wait(SECONDS)
    assert watcher.reason == "the election ended with RuntimeError: of the observer"


def test_the_server_may_come_later(api: LeaseApi) -> None:
    api.silent = True
    watcher, notes = Watcher(), list[str]()
    leader = standing(api.url, watcher, notes, ElectionSettings("me", "kube-system", "kube-scheduler", 3.0, 2.0, 0.1))
    leader.start()
    end = time.monotonic() + SECONDS
    while len(notes) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert notes[1] == (
        "Failed to acquire or renew lease kube-system/kube-scheduler: the API server did not answer in time"
    )
    api.silent = False
    assert watcher.led.wait(SECONDS)
    assert leader.stop(SECONDS)


# -- the end of a process

PROGRAM = """
    import ctypes, sys, time
    from kubesched.client.election.leader_thread import ExitingObserver, LeaderThread
    from kubesched.client.election.leader_elector import ElectionSettings
    from kubesched.client.rest import RestConfig

    async def headers():
        return {}

    url, how = sys.argv[1:]
    settings = ElectionSettings("me", "kube-system", "kube-scheduler", 2.0, 1.0, 0.2)
    observer = ExitingObserver(lambda line: print(line, flush=True))
    leader = LeaderThread(RestConfig(url, headers), settings, "kubesched/v1", observer)
    leader.start()
    leader.leading.result(20)
    print("leads", flush=True)
    if how == "holding the interpreter":
        ctypes.PyDLL(None).sleep(60)
    time.sleep(60)
"""


LOST = "Leaderelection lost: it was not renewed within 1 s"


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("asleep", LOST),
        ("holding the interpreter", ""),
        # it is suspended for seconds
        pytest.param("suspended", "", marks=pytest.mark.slow),
    ],
)
def test_a_process_that_lost_the_lease_ends_whatever_it_is_doing(
    how: str, expected: str, api: LeaseApi, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    process = subprocess.Popen(
        [sys.executable, str(program), api.url, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "leads\n"
            api.silent = how == "asleep"
            if how == "suspended":
                process.send_signal(signal.SIGSTOP)
                # longer than the lease, after which the timer's last words are due
                time.sleep(2.0 + LAST_WORDS_SECONDS + 0.5)
                process.send_signal(signal.SIGCONT)
            out, errors = process.communicate(timeout=SECONDS)
            assert process.returncode == 1
            if how == "suspended" and out:
                # whichever thread goes on first when the process does: here the one that renews the lease
                expected = LOST
            assert out.strip() == expected
            if not expected:
                reason = (
                    '  File "kubesched ends: its lease ran out while the process was suspended, or while an extension'
                )
                assert errors.splitlines()[0].startswith("Timeout"), errors
                assert errors.splitlines()[2].startswith(reason), errors
                assert "program.py" in errors, "it says where everybody was"
        finally:
            api.silent = False
            process.kill()


def test_what_an_exiting_observer_does(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr("faulthandler.dump_traceback_later", lambda seconds, **words: done.append(seconds))
    monkeypatch.setattr("faulthandler.cancel_dump_traceback_later", lambda: done.append("cancelled"))

    def broken(line: str) -> None:
        done.append(line)
        raise OSError("standard error is gone")

    observer = ExitingObserver(broken, done.append)
    observer.renewed(14.5)
    observer.stopped()
    with pytest.raises(OSError, match="is gone"):
        observer.lost("why")
    assert done == [14.5 + LAST_WORDS_SECONDS, "cancelled", "cancelled", "Leaderelection lost: why", 1]


# -- against the embedded API server


def test_a_lease_on_the_embedded_server() -> None:
    async def play() -> None:
        async with embedded() as target:
            leader = LeaderThread(target, QUICK, "kubesched/v1", Watcher())
            leader.start()
            await asyncio.wrap_future(leader.leading)
            rest = RestClient(target, "test")
            lease = json.loads(await rest.get(f"{LEASES}/kube-scheduler"))
            assert lease["spec"]["holderIdentity"] == "me"
            assert await asyncio.to_thread(leader.stop, SECONDS)
            lease = json.loads(await rest.get(f"{LEASES}/kube-scheduler"))
            assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseDurationSeconds"]) == ("", 1)
            await rest.close()

    asyncio.run(play())


def test_a_candidate_answers_pings_and_stands_again_after_it_was_deleted() -> None:
    async def play() -> None:
        async with embedded() as target:
            rest, notes = RestClient(target, "test"), list[str]()
            versions = CandidateVersions("1.36.4", "1.36.0")
            candidate = LeaseCandidateKeeper(
                rest, "kube-system", "kube-scheduler", "host_1", versions, note=notes.append
            )
            task = asyncio.ensure_future(candidate.run())
            try:
                await _watch_candidate(rest, candidate)
                assert notes == []
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await rest.close()

    asyncio.run(play())


async def _watch_candidate(rest: RestClient, candidate: LeaseCandidateKeeper) -> None:
    async def until(condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            for found in json.loads(await rest.get(CANDIDATES))["items"]:
                if condition(found):
                    return dict(found)
            await asyncio.sleep(0.01)

    first = await until(lambda found: True)
    renewed = first["spec"].pop("renewTime")
    assert first["metadata"]["name"] == "host_1"
    assert first["spec"] == {
        "leaseName": "kube-scheduler",
        "binaryVersion": "1.36.4",
        "emulationVersion": "1.36.0",
        "strategy": "OldestEmulationVersion",
    }
    assert candidate.synced.is_set()
    ping = "2999-01-01T00:00:00.000000Z"
    body = json.dumps({"spec": {"pingTime": ping}}).encode()
    await rest.send("PATCH", f"{CANDIDATES}/host_1", body, content_type="application/merge-patch+json")
    second = await until(lambda found: bool(found["spec"]["renewTime"] != renewed))
    assert second["spec"]["pingTime"] == ping
    await rest.send("DELETE", f"{CANDIDATES}/host_1")
    await until(lambda found: bool(found["metadata"]["uid"] != first["metadata"]["uid"]))
