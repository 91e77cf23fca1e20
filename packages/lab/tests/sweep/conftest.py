"""Small sweeps for tests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

API_VERSION = "simulate.kubesched.io/v1alpha1"
TINY = {
    "apiVersion": API_VERSION,
    "kind": "Workload",
    "until": "30s",
    "nodes": [{"name": "pool", "count": 2, "cpu": 4, "memory": "8Gi"}],
    "pods": [
        {"name": "web", "arrivals": {"rate": 0.2}, "runs": {"exponential": "10s"}, "cpu": {"uniform": ["1", "3"]}}
    ],
}

WriteSweep = Callable[..., str]


@pytest.fixture
def write_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteSweep:
    """Write tiny.yaml and sweep.yaml into a folder, which is the current one; return the name of the latter."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))

    def write(**fields: Any) -> str:
        document = {"apiVersion": API_VERSION, "kind": "Sweep", "traces": ["tiny.yaml"], **fields}
        Path("sweep.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        return "sweep.yaml"

    return write
