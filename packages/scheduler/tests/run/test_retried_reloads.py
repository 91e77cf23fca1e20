"""A valid file that was refused is tried again; it is told of once, and again when something else comes of it."""

import asyncio
from pathlib import Path

from kubesched.common.files import file_stamp
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.run.changed_file import ChangedFile
from kubesched.run.reload_reports import APPLIED, REFUSED, ReloadOutcome
from kubesched.run.reloader import AGAIN_AFTER_AT_MOST_SECONDS, outcomes

NOT_SERVED = ReloadOutcome(REFUSED, "racks are not served", again=True)
INVALID = ReloadOutcome(REFUSED, "no such field")
DONE = ReloadOutcome(APPLIED)


class Reloads:
    """What comes of each reload, and when it was made and what was told."""

    def __init__(self, file: Path, outcome: ReloadOutcome) -> None:
        file.write_text("first")
        self.changed = ChangedFile(str(file), file_stamp(file))
        file.write_text("second, and another one")
        self.outcome = outcome
        self.made: list[float] = []
        self.told: list[ReloadOutcome] = []

    async def _reload(self) -> ReloadOutcome:
        self.made.append(asyncio.get_running_loop().time())
        return self.outcome

    async def run(self) -> None:
        """Reload until cancelled."""
        async for outcome in outcomes(self.changed, self._reload):
            self.told.append(outcome)


def test_a_valid_file_is_tried_again_less_and_less_often_and_told_of_once(tmp_path: Path) -> None:
    async def story() -> None:
        reloads = Reloads(tmp_path / "f", NOT_SERVED)
        running = asyncio.create_task(reloads.run())
        await asyncio.sleep(3600)
        pauses = [round(after - before) for before, after in zip(reloads.made, reloads.made[1:], strict=False)]
        assert pauses == [60, 120, 240, 480, 960, 960]
        assert reloads.told == [NOT_SERVED]
        reloads.outcome = DONE
        await asyncio.sleep(AGAIN_AFTER_AT_MOST_SECONDS)
        assert reloads.told == [NOT_SERVED, DONE]
        made = len(reloads.made)
        await asyncio.sleep(7200)
        assert len(reloads.made) == made, "it is in force"
        running.cancel()

    run_in_virtual_time(story())


def test_a_file_that_is_wrong_is_not_tried_again_before_it_changes(tmp_path: Path) -> None:
    async def story() -> None:
        reloads = Reloads(tmp_path / "f", INVALID)
        running = asyncio.create_task(reloads.run())
        await asyncio.sleep(7200)
        assert (len(reloads.made), reloads.told) == (1, [INVALID])
        (tmp_path / "f").write_text("third")
        await asyncio.sleep(1)
        assert reloads.told == [INVALID, INVALID]
        running.cancel()

    run_in_virtual_time(story())


def test_whoever_asks_is_told_even_if_nothing_else_came_of_it(tmp_path: Path) -> None:
    async def story() -> None:
        reloads = Reloads(tmp_path / "f", NOT_SERVED)
        running = asyncio.create_task(reloads.run())
        await asyncio.sleep(200)
        reloads.changed.ask()
        await asyncio.sleep(1)
        assert reloads.told == [NOT_SERVED, NOT_SERVED]
        running.cancel()

    run_in_virtual_time(story())
