"""A control plane that is killed again and again: what it has answered is there, and who watches misses nothing.

Clients write as fast as they can and note what was acknowledged. The process is killed with -9 and started again with
the same folder; clients come back, each knowing only what it was told.
"""

import asyncio
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import msgspec
import pytest
import yaml
from tests.support.control_plane import SECONDS, a_control_plane

MAPS = "/api/v1/namespaces/default/configmaps"
WRITERS = 8
KEYS = 5
Document = dict[str, Any]
LOST = (aiohttp.ClientError, asyncio.TimeoutError, ConnectionError)


class GoneError(Exception):
    """The server is away."""


class Client:
    """Asks a server that comes and goes, as its kubeconfig says."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def ask(self, method: str, path: str, document: Any = None) -> tuple[int, Document]:
        """Return code and document of an answer; GoneError if none arrives."""
        try:
            async with self._session.request(method, path, json=document) as response:
                return response.status, msgspec.json.decode(await response.read())
        except LOST:
            raise GoneError from None

    async def watch(self, version: int, replica: "Replica") -> None:
        """Let a replica follow from a version on, until the server is away."""
        query = {"watch": "true", "resourceVersion": str(version), "allowWatchBookmarks": "true"}
        with suppress(*LOST):
            async with self._session.get(MAPS, params=query) as response:
                async for line in response.content:
                    replica.follow(msgspec.json.decode(line))


class Replica:
    """What somebody knows who listed once and has watched since."""

    def __init__(self, listed: Document) -> None:
        self.objects = {item["metadata"]["name"]: _state(item) for item in listed["items"]}
        self.version = int(listed["metadata"]["resourceVersion"])
        self.events = 0

    def follow(self, event: Document) -> None:
        """Take in an event: none is older than another, and each fits to what is known."""
        kind, found = event["type"], event["object"]
        assert kind != "ERROR", found
        meta = found["metadata"]
        version = int(meta["resourceVersion"])
        if kind == "BOOKMARK":
            assert version >= self.version
        else:
            assert version > self.version
            self.events += 1
            assert (kind == "ADDED") == (meta["name"] not in self.objects), f"{kind} {meta['name']}"
            if kind == "DELETED":
                del self.objects[meta["name"]]
            else:
                self.objects[meta["name"]] = _state(found)
        self.version = version


class Writer:
    """Writes to objects of its own, and knows what they can be: as acknowledged, or as asked for without an answer."""

    def __init__(self, number: int, random: Random) -> None:
        self._names = [f"w{number}-{key}" for key in range(KEYS)]
        self._random = random
        self._count = 0
        # None: not there
        self.acknowledged: dict[str, tuple[int, str] | None] = dict.fromkeys(self._names)
        self.asked: tuple[str, str | None] | None = None
        self.answers = 0
        self.version = 0

    async def write(self, client: Client) -> None:
        """Write until the server is away."""
        while True:
            name = self._random.choice(self._names)
            known = self.acknowledged[name]
            self._count += 1
            text = f"{name} {self._count} {'x' * self._random.randrange(3000)}"
            document = {"metadata": {"name": name}, "data": {"text": text}}
            if known is None:
                method, path = "POST", MAPS
            elif self._random.random() < 0.2:
                method, path, document, text = "DELETE", f"{MAPS}/{name}", {}, ""
            else:
                method, path = "PUT", f"{MAPS}/{name}"
                document["metadata"]["resourceVersion"] = str(known[0])
            self.asked = name, text or None
            code, answer = await client.ask(method, path, document)
            assert code < 300, answer
            self.answers += 1
            self.asked = None
            if method == "DELETE":
                self.acknowledged[name] = None
                continue
            version, said = _state(answer)
            assert said == text
            assert version > self.version, "versions go up"
            self.version = version
            self.acknowledged[name] = version, text

    def compare(self, found: dict[str, tuple[int, str]]) -> None:
        """Hold what is there against what was acknowledged; the last request may or may not have been carried out."""
        for name, known in self.acknowledged.items():
            now = found.get(name)
            if self.asked is not None and self.asked[0] == name and now != known:
                assert (now and now[1]) == self.asked[1], f"{name}: neither what it was nor what it was to be"
                assert now is None or now[0] > self.version
                self.acknowledged[name] = now
            else:
                assert now == known, f"{name}: what was acknowledged is lost"
        self.asked = None


def _state(found: Document) -> tuple[int, str]:
    return int(found["metadata"]["resourceVersion"]), found["data"]["text"]


async def _listed(client: Client) -> Document:
    code, listed = await client.ask("GET", MAPS)
    assert code == 200, listed
    # the server's own
    listed["items"] = [item for item in listed["items"] if "text" in (item.get("data") or {})]
    return listed


class Life:
    """Everybody who lives through the kills."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.writers = [Writer(number, Random(seed * 100 + number)) for number in range(WRITERS)]
        self.replica: Replica | None = None
        # nothing that anybody was told is newer
        self.version = 0

    async def play(self, kubeconfig: Path, kill: Any, seconds: float) -> None:
        """See that all is there; then write, and be cut off."""
        content = yaml.safe_load(kubeconfig.read_text())
        url, token = content["clusters"][0]["cluster"]["server"], content["users"][0]["user"]["token"]
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(url, headers=headers, timeout=timeout, read_bufsize=2**20) as session:
            client = Client(session)
            listed = await _listed(client)
            found = {item["metadata"]["name"]: _state(item) for item in listed["items"]}
            assert int(listed["metadata"]["resourceVersion"]) >= self.version, "versions never go back"
            for writer in self.writers:
                writer.compare(found)
            replica = self.replica = self.replica or Replica(listed)
            watching = asyncio.create_task(client.watch(replica.version, replica))
            writing = [asyncio.create_task(writer.write(client)) for writer in self.writers]
            if kill is not None:
                before = self.answers()
                while self.answers() < before + 50:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(seconds)
                kill()
                results = await asyncio.gather(*writing, return_exceptions=True)
                assert all(isinstance(result, GoneError) for result in results), results
                await watching
            else:
                for task in writing:
                    task.cancel()
                await asyncio.gather(*writing, return_exceptions=True)
                await self._catch_up(client, watching)
            self.version = max([replica.version, *(writer.version for writer in self.writers)])

    async def _catch_up(self, client: Client, watching: "asyncio.Task[None]") -> None:
        """See that who has watched all the time knows what is there."""
        assert self.replica is not None
        listed = await _listed(client)
        async with asyncio.timeout(SECONDS):
            while self.replica.objects != Replica(listed).objects:
                assert not watching.done()
                await asyncio.sleep(0.01)
        watching.cancel()

    def answers(self) -> int:
        """Return how much was acknowledged."""
        return sum(writer.answers for writer in self.writers)


def live_through(kills: int, folder: Path, seed: int) -> Life:
    """Kill a control plane so many times; return what its clients know at the end."""
    life = Life(seed)
    arguments = ("--no-tls", "--data", str(folder))
    for number in range(kills + 1):
        with a_control_plane(*arguments) as process:
            last = number == kills
            kill = None if last else process.process.kill
            asyncio.run(life.play(process.kubeconfig, kill, life.random.uniform(0.0, 0.3)))
            if last:
                assert process.end()[::2] == (0, "")
            else:
                assert process.process.wait(SECONDS) == -signal.SIGKILL
    return life


@pytest.mark.slow
def test_what_was_acknowledged_survives_kills(tmp_path: Path) -> None:
    life = live_through(3, tmp_path / "data", seed=1)
    assert life.answers() >= 150
    assert life.replica is not None
    assert life.replica.events >= 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_what_was_acknowledged_survives_twenty_kills(seed: int, tmp_path: Path) -> None:
    life = live_through(20, tmp_path / "data", seed)
    assert life.answers() >= 1000


@pytest.mark.slow
def test_a_start_can_be_killed_at_any_moment(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    random = Random(1)
    for _ in range(15):
        _killed_early(folder, random.uniform(0.2, 2.0))
    with a_control_plane("--no-tls", "--data", str(folder)) as process:
        assert process.end()[::2] == (0, "")


def _killed_early(folder: Path, seconds: float) -> None:
    command = [sys.executable, "-m", "kubesched", "controlplane", "--no-tls", "--data", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    assert process.poll() is None, process.communicate()[1]
    process.kill()
    assert process.communicate()[1] == ""
