"""A file is reported when it was changed or replaced, and not while it is being written."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kubesched.common.files import file_stamp
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.run.changed_file import LOOK_EVERY_SECONDS, ChangedFile


def rewrite(file: Path) -> None:
    file.write_text("another text")


def move_over(file: Path) -> None:
    draft = file.with_name("draft")
    draft.write_text("first")
    os.replace(draft, file)


def let_be_read(file: Path) -> None:
    file.chmod(0o604)


def swap_link(file: Path) -> None:
    """Show another folder through the link `..data`, as the kubelet does; the file itself stays a link."""
    other = file.parent / "..2"
    other.mkdir()
    (other / "config").write_text("second")
    (file.parent / "..data_tmp").symlink_to("..2")
    os.replace(file.parent / "..data_tmp", file.parent / "..data")


def mounted(folder: Path) -> Path:
    (folder / "..1").mkdir()
    (folder / "..1/config").write_text("first")
    (folder / "..data").symlink_to("..1")
    (folder / "config").symlink_to("..data/config")
    return folder / "config"


def plain(folder: Path) -> Path:
    (folder / "config").write_text("first")
    return folder / "config"


@pytest.mark.parametrize(
    ("made", "change"),
    [(plain, rewrite), (plain, move_over), (plain, let_be_read), (mounted, swap_link)],
    ids=["edited in place", "replaced", "another mode", "a ConfigMap's link is swapped"],
)
def test_a_change_is_reported_once(
    made: Callable[[Path], Path], change: Callable[[Path], None], tmp_path: Path
) -> None:
    file = made(tmp_path)

    async def story() -> list[bool]:
        changed = ChangedFile(str(file), file_stamp(file))
        waiting = asyncio.create_task(changed.change())
        await asyncio.sleep(10)
        found = [waiting.done()]
        change(file)
        await asyncio.sleep(1)
        found.append(waiting.done())
        waiting = asyncio.create_task(changed.change())
        await asyncio.sleep(10)
        found.append(waiting.done())
        waiting.cancel()
        return found

    assert run_in_virtual_time(story()) == [False, True, False]


def test_a_file_that_is_being_written_or_missing_is_not_reported(tmp_path: Path) -> None:
    file = plain(tmp_path)

    async def story() -> None:
        changed = ChangedFile(str(file), file_stamp(file))
        waiting = asyncio.create_task(changed.change())
        for number in range(20):
            file.write_text("x" * number)
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            assert not waiting.done()
        file.unlink()
        await asyncio.sleep(10)
        assert not waiting.done()
        file.write_text("back again")
        await asyncio.sleep(1)
        assert waiting.done()

    run_in_virtual_time(story())


def test_whoever_asks_has_it_read_at_once(tmp_path: Path) -> None:
    file = plain(tmp_path)

    async def story() -> float:
        began = asyncio.get_running_loop().time()
        changed = ChangedFile(str(file), file_stamp(file))
        changed.ask()
        await changed.change()
        return asyncio.get_running_loop().time() - began

    assert run_in_virtual_time(story()) == 0


def test_a_change_between_the_first_reading_and_the_begin_is_reported(tmp_path: Path) -> None:
    file = plain(tmp_path)
    stamp = file_stamp(file)
    rewrite(file)

    async def story() -> None:
        await asyncio.wait_for(ChangedFile(str(file), stamp).change(), 1)

    run_in_virtual_time(story())


def test_a_wait_without_a_change_ends_and_a_later_change_is_reported(tmp_path: Path) -> None:
    file = plain(tmp_path)

    async def story() -> None:
        began = asyncio.get_running_loop().time()
        changed = ChangedFile(str(file), file_stamp(file))
        assert not await changed.change(60)
        assert 60 <= asyncio.get_running_loop().time() - began < 61
        rewrite(file)
        assert await changed.change(60)

    run_in_virtual_time(story())
