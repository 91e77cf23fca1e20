"""Full passes of the garbage collector wait until nothing is under way, and not for ever."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from kubesched.app.collecting import LATEST_SECONDS, LOOK_EVERY_SECONDS, WORTH_WHILE, Collecting
from kubesched.testing.virtual_time import run_in_virtual_time


class Passes:
    """A garbage collector that only counts its full passes; `grown` is what it says has gathered."""

    def __init__(self) -> None:
        self.count = 0
        self.grown = 0

    def collect(self, generation: int = 2) -> int:
        """Count a pass."""
        assert generation == 2
        self.count += 1
        self.grown = 0
        return 0

    def get_count(self) -> tuple[int, int, int]:
        """Return what has gathered."""
        return 0, self.grown, 0


@pytest.fixture(autouse=True)
def passes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Passes]:
    """Keep the collector as it is, and count its full passes."""
    found, thresholds = Passes(), gc.get_threshold()
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "collect", found.collect)
    monkeypatch.setattr(gc, "get_count", found.get_count)
    yield found
    gc.set_threshold(*thresholds)


@pytest.mark.parametrize(
    ("busy", "grown", "seconds", "collected"),
    [
        pytest.param(False, WORTH_WHILE, 2 * LOOK_EVERY_SECONDS, 1, id="idle, and much has gathered"),
        pytest.param(False, 1, 10 * LOOK_EVERY_SECONDS, 0, id="idle, and hardly anything has gathered"),
        pytest.param(True, WORTH_WHILE, LATEST_SECONDS / 2, 0, id="bindings are under way"),
        pytest.param(True, 1, LATEST_SECONDS + 2 * LOOK_EVERY_SECONDS, 1, id="bindings are always under way"),
        pytest.param(False, 0, 3 * LATEST_SECONDS, 0, id="nothing has gathered"),
    ],
)
def test_when_there_is_a_full_pass(busy: bool, grown: int, seconds: float, collected: int, passes: Passes) -> None:
    async def story() -> None:
        task = asyncio.create_task(Collecting(lambda: busy).run())
        passes.grown = grown
        await asyncio.sleep(seconds)
        task.cancel()

    run_in_virtual_time(story())
    assert passes.count == collected


def test_full_passes_never_begin_by_themselves() -> None:
    Collecting(lambda: True)
    assert min(gc.get_threshold()[1:]) >= 1_000_000
