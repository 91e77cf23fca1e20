"""Full passes of the garbage collector wait until nothing is under way, and not for ever."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from kubesched.common import garbage_collection
from kubesched.common.garbage_collection import (
    LATEST_SECONDS,
    LOOK_EVERY_SECONDS,
    SERVERS_LATEST_SECONDS,
    WORTH_WHILE,
    GarbageCollection,
)
from kubesched.common.virtual_time import run_in_virtual_time

# as it is when nobody counts
GIVE_BACK = garbage_collection.give_back


class Passes:
    """A garbage collector that only counts its full passes; `grown` is what it says has gathered."""

    def __init__(self) -> None:
        self.count = 0
        self.grown = 0
        self.pages = 1000
        self.given_back = 0

    def collect(self, generation: int = 2) -> int:
        """Count a pass."""
        assert generation == 2
        self.count += 1
        self.grown = 0
        return 0

    def give_back(self) -> None:
        """Count how often memory is given back."""
        self.given_back += 1

    def get_count(self) -> tuple[int, int, int]:
        """Return what has gathered."""
        return 0, self.grown, 0


@pytest.fixture(autouse=True)
def passes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Passes]:
    """Keep the collector as it is, and count its full passes."""
    found, thresholds = Passes(), gc.get_threshold()
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(garbage_collection, "give_back", found.give_back)
    monkeypatch.setattr(garbage_collection, "resident_pages", lambda: found.pages)
    monkeypatch.setattr(gc, "collect", found.collect)
    monkeypatch.setattr(gc, "get_count", found.get_count)
    yield found
    gc.set_threshold(*thresholds)


@pytest.mark.parametrize(
    ("busy", "grown", "latest", "seconds", "collected"),
    [
        pytest.param(False, WORTH_WHILE, LATEST_SECONDS, 2 * LOOK_EVERY_SECONDS, 1, id="idle, and much has gathered"),
        pytest.param(False, 1, LATEST_SECONDS, 10 * LOOK_EVERY_SECONDS, 0, id="idle, and hardly anything has gathered"),
        pytest.param(True, WORTH_WHILE, LATEST_SECONDS, LATEST_SECONDS / 2, 0, id="bindings are under way"),
        pytest.param(
            True, 1, LATEST_SECONDS, LATEST_SECONDS + 2 * LOOK_EVERY_SECONDS, 1, id="bindings are always under way"
        ),
        pytest.param(
            True, 1, SERVERS_LATEST_SECONDS, SERVERS_LATEST_SECONDS + 2 * LOOK_EVERY_SECONDS, 1, id="a busy server"
        ),
        pytest.param(False, 0, LATEST_SECONDS, 3 * LATEST_SECONDS, 0, id="nothing has gathered"),
    ],
)
def test_when_there_is_a_full_pass(
    busy: bool, grown: int, latest: float, seconds: float, collected: int, passes: Passes
) -> None:
    async def story() -> None:
        task = asyncio.create_task(GarbageCollection(lambda: busy, latest).run())
        passes.grown = grown
        await asyncio.sleep(seconds)
        task.cancel()

    run_in_virtual_time(story())
    assert (passes.count, passes.given_back) == (collected, collected)


@pytest.mark.parametrize(
    ("pages", "collected"),
    [
        pytest.param(1100, 0, id="hardly more memory than before"),
        pytest.param(1300, 1, id="much more memory, in however few containers"),
    ],
)
def test_memory_that_has_grown_is_looked_through_though_not_at_once(pages: int, collected: int, passes: Passes) -> None:
    async def story() -> None:
        task = asyncio.create_task(GarbageCollection(lambda: False, SERVERS_LATEST_SECONDS).run())
        await asyncio.sleep(0)
        passes.pages = pages
        await asyncio.sleep(SERVERS_LATEST_SECONDS - LOOK_EVERY_SECONDS)
        assert passes.count == 0
        await asyncio.sleep(SERVERS_LATEST_SECONDS)
        task.cancel()

    run_in_virtual_time(story())
    assert passes.count == collected


@pytest.mark.parametrize(
    ("forgotten", "busy", "collected"),
    [
        pytest.param(3, False, 1, id="caches forgot something"),
        pytest.param(0, False, 0, id="everything that caches have was used"),
        pytest.param(3, True, 0, id="bindings are under way"),
    ],
)
def test_a_full_pass_follows_when_caches_forgot_something(
    forgotten: int, busy: bool, collected: int, passes: Passes
) -> None:
    calls: list[None] = []

    def forget() -> int:
        calls.append(None)
        return forgotten

    async def story() -> None:
        task = asyncio.create_task(GarbageCollection(lambda: busy, forget=forget).run())
        await asyncio.sleep(LATEST_SECONDS - LOOK_EVERY_SECONDS)
        assert not calls
        await asyncio.sleep(3 * LOOK_EVERY_SECONDS)
        task.cancel()

    run_in_virtual_time(story())
    assert (len(calls), passes.count, passes.given_back) == (1, collected, collected)


def test_full_passes_never_begin_by_themselves() -> None:
    GarbageCollection(lambda: True)
    assert min(gc.get_threshold()[1:]) >= 1_000_000


def test_memory_can_be_given_back_wherever_this_runs() -> None:
    GIVE_BACK()
