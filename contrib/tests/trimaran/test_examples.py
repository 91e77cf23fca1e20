"""The examples of Trimaran's plugins, with a file in place of load-watcher."""

from pathlib import Path

import pytest
from contrib.tests.examples import run_example_with_server


@pytest.mark.parametrize(
    ("folder", "plugin", "placed"),
    [
        ("target-load-packing", "TargetLoadPacking", {"first": "warm", "second": "cold"}),
        ("load-variation-risk-balancing", "LoadVariationRiskBalancing", {"web": "calm"}),
        ("low-risk-over-commitment", "LowRiskOverCommitment", {"web": "modest"}),
        ("peaks", "Peaks", {"web": "efficient"}),
    ],
)
def test_the_example_places_its_pods_by_load(folder: str, plugin: str, placed: dict[str, str], tmp_path: Path) -> None:
    found = run_example_with_server(folder, plugin, "load-watcher", tmp_path)
    assert {name: found[name] for name in placed} == placed
