"""Files that are opened in the page take a bounded time and memory, however small they are, and can be given up."""

import asyncio
import gzip
import json
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packages.lab.tests.page.files.test_scenario_files import HEADER, download, upload
from packages.lab.tests.page.routes.test_action_routes import NEW, acting, small

from kubesched.testing import a_node
from kubesched_lab.page.files import scenario_lines, uploads
from kubesched_lab.page.files.uploads import GivenUpError, Opening
from kubesched_lab.page.routes import files
from kubesched_lab.simulate.traces.recording.run_times import is_recording

SECONDS = 20
POD = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
)
MANY = f'{{"template":"t","object":{POD}}}\n{{"at":0,"from":"t","name":"p{{}}","count":30000}}\n'.encode()
ARRIVAL = f'{{"at":0,"object":{POD}}}\n'.encode()


@pytest.fixture
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LARGEST_FILE", 1 << 20)
    monkeypatch.setattr(uploads, "LARGEST_YAML", 1 << 20)
    monkeypatch.setattr(uploads, "MOST_VALUES", 10_000)
    monkeypatch.setattr(uploads, "LONGEST_LINE", 100_000)
    monkeypatch.setattr(uploads, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(scenario_lines, "MOST_LINES", 20_000)


UNPACKED = "has more than 1 MiB, unpacked; open it with kubesched page --simulate in a terminal"
VALUES = "may have more than 10000 values; open it with kubesched page --simulate in a terminal"
LINES = "the page reads at most 20000 lines; use kubesched simulate for more"

HEAVY: dict[str, tuple[str, bytes, str]] = {
    "a line without end, packed": ("a.jsonl.gz", gzip.compress(b"x" * (2 << 20)), f"a.jsonl.gz: {UNPACKED}"),
    "empty lines, packed": ("a.jsonl.gz", gzip.compress(b"\n" * 30_000), f"a.jsonl: {LINES}"),
    "empty lines of a scenario, packed": ("a.jsonl.gz", gzip.compress(HEADER + b"\n" * 30_000), f"a.jsonl: {LINES}"),
    "comments, packed": ("a.yaml.gz", gzip.compress(b"#x\n" * 1_000_000), f"a.yaml.gz: {UNPACKED}"),
    "an export, packed": ("a.json.gz", gzip.compress(b'{"pods":[' + b"{}," * 20_000), f"a.json: {VALUES}"),
    "an export that is named as a trace": ("a.jsonl", b'{"pods":[' + b"{}," * 20_000, f"a.jsonl: {VALUES}"),
    "a file packed without saying so": ("a.json", gzip.compress(b'{"pods":[' + b"{}," * 20_000), f"a.json: {VALUES}"),
    "a file packed twice": ("a.jsonl.gz", gzip.compress(gzip.compress(b"x")), "a.jsonl.gz: is compressed twice"),
    "a file torn when it was packed": ("a.jsonl.gz", gzip.compress(ARRIVAL)[:-9], "a.jsonl.gz: the file is damaged"),
    "a wide document": ("a.yaml", b"a: [" + b"1," * 20_000 + b"]", f"a.yaml: {VALUES}"),
    "a wide workload": ("a.yaml", b"kind: Workload\napiVersion: simulate.\nx: [" + b"1," * 20_000, f"a.yaml: {VALUES}"),
    "a YAML text without end": (
        "a.yaml",
        b"a: '" + b"x" * (2 << 20),
        "a.yaml: is YAML of more than 1 MiB; write it as JSON, or open it with kubesched page --simulate in a terminal",
    ),
    "a trace of SimKube": ("a.sktrace", b"\x82\xa6events" + b"\x80" * 20_000, f"a.sktrace: {VALUES}"),
    "a line of a scenario that stands for many": (
        "a.jsonl",
        HEADER + MANY,
        "a.jsonl: the page keeps at most 20000 objects; use kubesched simulate for more",
    ),
    "a line that stands for many": (
        "a.jsonl",
        MANY,
        "a.jsonl: more than 1000 events at 0 s; open it",
    ),
    "a time beyond all dates": (
        "a.jsonl",
        HEADER + ARRIVAL.replace(b'"at":0', b'"at":9e11'),
        "a.jsonl, line 2: `at` is 900000000000.0; expected seconds since the beginning",
    ),
    "a pod that runs beyond all dates": (
        "a.jsonl",
        HEADER + ARRIVAL.replace(b'"at":0', b'"at":0,"runs":9e11'),
        "a.jsonl, line 2: `runs` is 900000000000.0; expected seconds",
    ),
    "a pace without end": (
        "a.jsonl",
        b'{"scenario":{"version":1,"pace":{"binding_seconds":1e308}}}\n' + ARRIVAL,
        "a.jsonl, line 1: `scenario.pace`: `binding_seconds` is 1e+308; expected seconds",
    ),
    "an attempt without end": (
        "a.jsonl",
        b'{"scenario":{"version":1,"pace":{"attempt_seconds":1e308}}}\n' + ARRIVAL,
        "a.jsonl, line 1: `scenario.pace`: `attempt_seconds` is 1e+308; expected seconds",
    ),
    "a pace that goes back": (
        "a.jsonl",
        b'{"scenario":{"version":1,"pace":{"stopping_seconds":-1}}}\n' + ARRIVAL,
        "a.jsonl, line 1: `scenario.pace`: `stopping_seconds` is -1; expected seconds",
    ),
    "a long line": ("a.jsonl", b'{"at":0,"object":"' + b"x" * 200_000, "a.jsonl, line 1: is longer than"),
    "a long record": ("a.jsonl", b'{"time":"' + b"x" * 200_000, "a.jsonl, line 1: is longer than"),
}


@pytest.mark.usefixtures("_small_bounds")
@pytest.mark.parametrize("case", HEAVY)
def test_a_file_that_would_take_too_much_is_refused_in_a_sentence(case: str) -> None:
    name, content, why = HEAVY[case]

    async def story() -> None:
        async with acting(*small(), simulate=False) as page:
            status, answer = await upload(page, name, content)
            assert (status, answer["error"].startswith(why)) == (422, True), answer

    asyncio.run(story())


def a_torn_recording() -> bytes:
    """Return a packed recording whose recorder was killed."""
    lines = b'{"recording":{"version":1}}\n' + ARRIVAL
    assert is_recording(lines)
    packer = zlib.compressobj(wbits=31)
    return packer.compress(lines) + packer.flush(zlib.Z_SYNC_FLUSH)


GOOD: dict[str, tuple[str, bytes, str]] = {
    "a packed trace": ("a.jsonl.gz", gzip.compress(ARRIVAL), "default/p"),
    "packed manifests": ("a.yaml.gz", gzip.compress(NEW.encode()), "default/new"),
    "a torn recording": ("a.jsonl.gz", a_torn_recording(), "default/p"),
    "a file in two packed parts": ("a.jsonl.gz", gzip.compress(b"\n") + gzip.compress(ARRIVAL), "default/p"),
}


@pytest.mark.usefixtures("_small_bounds")
@pytest.mark.parametrize("case", GOOD)
def test_packed_files_are_opened(case: str) -> None:
    name, content, pod = GOOD[case]

    async def story() -> None:
        async with acting(a_node("other"), simulate=False) as page:
            status, answer = await upload(page, name, content)
            assert status == 200, answer
            await page.settle()
            assert list(page.nodes()) == [pod]

    asyncio.run(story())


@pytest.mark.parametrize("kind", ["snapshot", "manifests", "simulator"])
def test_what_the_page_exports_it_opens(kind: str) -> None:
    async def story() -> None:
        async with acting(*small(), simulate=False) as page:
            status, answer = await upload(page, *await download(page, f"/v1/export?as={kind}"))
            assert status == 200, answer
            await page.settle()
            assert set(page.nodes()) == {"default/w-1", "default/w-2"}

    asyncio.run(story())


class Slow:
    """Reads files that are named slow until they are given up."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def prepared(self, path: Path, opening: Opening) -> Path:
        if not path.name.startswith("slow"):
            return uploads.prepared(path, opening)
        self.begun.set()
        end = time.monotonic() + SECONDS
        try:
            while time.monotonic() < end:
                opening.go_on()
                time.sleep(0.01)
        except GivenUpError:
            self.ended.set()
            raise
        return path


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    found = Slow()
    monkeypatch.setattr(files, "prepared", found.prepared)
    yield found
    # on whatever the page did
    assert found.ended.wait(SECONDS)


async def opening_slowly(page: Any, slow: Slow) -> "asyncio.Task[tuple[int, Any]]":
    """Return the upload of a file that is being read."""
    task = asyncio.create_task(upload(page, "slow.jsonl", ARRIVAL))
    assert await asyncio.to_thread(slow.begun.wait, SECONDS)
    return task


def test_another_file_gives_up_the_one_that_is_opened(slow: Slow) -> None:
    async def story() -> None:
        async with acting(a_node("n"), simulate=False) as page:
            first = await opening_slowly(page, slow)
            assert (await upload(page, "b.jsonl", ARRIVAL))[0] == 200
            status, answer = await first
            assert (status, "was not opened" in answer["error"]) == (409, True)
            await page.settle()
            assert list(page.nodes()) == ["default/p"]

    asyncio.run(story())


def test_a_browser_that_leaves_gives_up_its_file(slow: Slow) -> None:
    async def story() -> None:
        async with acting(a_node("n"), simulate=False) as page:
            first = await opening_slowly(page, slow)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert await asyncio.to_thread(slow.ended.wait, SECONDS)

    asyncio.run(story())


def test_a_page_that_ends_gives_up_its_file(slow: Slow) -> None:
    async def story() -> None:
        async with acting(a_node("n"), simulate=False) as page:
            first = await opening_slowly(page, slow)
            await page.server.close()
            await asyncio.gather(first, return_exceptions=True)
            assert slow.ended.is_set()

    asyncio.run(story())
