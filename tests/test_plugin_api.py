"""docs/reference/plugin-api.md says what is exported, as the source has it."""

from pathlib import Path

import pytest

import kubesched
import kubesched.testing
from tools import plugin_api

PAGE = plugin_api.page()


def test_the_page_is_the_one_that_the_source_makes() -> None:
    text = (Path(__file__).parents[1] / "docs" / "reference/plugin-api.md").read_text()
    assert text == PAGE, "run `make docs`"


@pytest.mark.parametrize("name", [*kubesched.__all__, *kubesched.testing.__all__])
def test_everything_public_is_on_it(name: str) -> None:
    if name != "__version__":
        assert f"#### `{name}`\n" in PAGE or f"#### class `{name}`" in PAGE


@pytest.mark.parametrize("name", [*kubesched.__all__, *kubesched.testing.__all__])
def test_everything_public_says_what_it_is(name: str) -> None:
    value = getattr(kubesched, name, None) or getattr(kubesched.testing, name)
    assert not callable(value) or (value.__doc__ or "").strip()


@pytest.mark.parametrize(
    "line",
    [
        "* `filter(cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None`: Return a rejection",
        "* `async pre_bind(cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None`: Prepare the binding;",
        "#### class `FilterPlugin` (`Plugin`)",
        "* `parallel: bool = False`: Whether `pre_bind` may run concurrently with those of other plugins.",
        '* `node_of(name: str, namespace: str = "default") -> str`: Return the node that a pod is bound to',
        "* `grace_seconds`: termination time of a deleted pod",
        "* `SUCCESS = 0`",
        "    *,\n    cpu: RawQuantity | None = None,",
    ],
    ids=[
        "a method has its signature and its docstring",
        "a coroutine is one",
        "a base that is public is named",
        "an attribute has its default and its comment",
        "a method of a base that is not public is there",
        "so is an attribute that its constructor sets",
        "members of an enumeration",
        "many parameters have lines of their own",
    ],
)
def test_what_is_written_about(line: str) -> None:
    assert line in PAGE


def test_what_is_the_frameworks_own_is_left_out() -> None:
    assert "stands_in_for" not in PAGE
