"""The examples of Trimaran's plugins, with a file in place of load-watcher."""

from pathlib import Path

import pytest
from packages.contrib.tests.examples import run_example_with_server


@pytest.mark.parametrize(
    ("page", "placed"),
    [
        ("target-load-packing", {"first": "warm", "second": "cold"}),
        ("load-variation-risk-balancing", {"web": "calm"}),
        ("low-risk-over-commitment", {"web": "modest"}),
        ("peaks", {"web": "efficient"}),
    ],
)
def test_the_example_places_its_pods_by_load(page: str, placed: dict[str, str], tmp_path: Path) -> None:
    found = run_example_with_server(page, tmp_path)
    assert {name: found[name] for name in placed} == placed
