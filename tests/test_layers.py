"""docs/architecture.md draws the layers that import-linter checks."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def drawn(container: str) -> str:
    """Return the layers of the contract for one container, as one line."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == [container])
    return " > ".join(layer for layer in layers if layer != "__main__")


def test_the_drawing_of_layers_follows_the_contracts() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert f"\n{drawn('kubesched')}\ncore: {drawn('kubesched.core')}\n" in text
