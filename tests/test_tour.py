"""docs/internals/follow-one-pod.md names the functions that a pod comes by, in their order."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from packages.controlplane.tests.up.test_cluster import Lived, a_node, a_pod, living
from tests.support.packages import exists

ROOT = Path(__file__).parents[1]
STEP = re.compile(r"^\d+\. `([\w/]+\.py): ([\w.]+)`", re.MULTILINE)
# files of the scheduler are named below its package, others with theirs
FOLDERS = (f"{ROOT}/packages/scheduler/src/kubesched/", f"{ROOT}/packages/controlplane/src/")


def told() -> list[tuple[str, str]]:
    """Return the files and functions of the tour."""
    return STEP.findall((ROOT / "docs/internals/follow-one-pod.md").read_text())


def traced() -> list[tuple[str, str]]:
    """Return the files and functions that one more pod of a template comes by, each where it is first called."""
    found: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        for folder in FOLDERS:
            if event == "call" and code.co_filename.startswith(folder):
                found.setdefault((code.co_filename.removeprefix(folder), code.co_qualname))

    async def story(lived: Lived) -> None:
        await lived.settled()
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            lived.add(a_pod("web"))
            await lived.settled()
        finally:
            sys.setprofile(before)

    living(story, a_node("n1"), a_node("n2"), a_pod("another"))
    return list(found)


def test_the_tour_follows_one_pod() -> None:
    steps = told()
    assert len(steps) > 30
    assert steps == [step for step in traced() if step in steps]


def test_the_files_that_the_tour_ends_with_exist() -> None:
    text = (ROOT / "docs/internals/follow-one-pod.md").read_text()
    for file in re.findall(r"`([\w/]+\.py)[:`]", text):
        assert exists(file), file
