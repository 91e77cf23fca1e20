"""docs/internals/architecture.md draws the layers that import-linter checks."""

from pathlib import Path

import pytest

from tools import layers

ROOT = Path(__file__).parents[1]
CONTRACTS = """
[[tool.importlinter.contracts]]
type = "layers"
containers = ["kubesched.core"]
layers = ["loop", "queue | plugins", "cluster"]

[[tool.importlinter.contracts]]
type = "forbidden"
"""


def test_the_drawing_of_layers_follows_the_contracts() -> None:
    text = (ROOT / "docs" / "internals/architecture.md").read_text()
    assert text == layers.drawn(text, layers.CONTRACTS.read_text()), "run `make docs`"


def test_each_contract_of_layers_is_a_line() -> None:
    assert layers.drawing(CONTRACTS) == "```\ncore: loop > queue | plugins > cluster\n```\n"


def test_a_document_without_a_place_for_it_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the layers"):
        layers.drawn("# Nothing", CONTRACTS)
