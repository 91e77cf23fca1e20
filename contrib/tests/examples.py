"""The example of a plugin, run by `kubesched up --once`."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

CONTRIB = Path(__file__).parents[1]
ENTRY_POINTS: dict[str, str] = tomllib.loads((CONTRIB / "pyproject.toml").read_text())["project"]["entry-points"][
    "kubesched.plugins"
]


def run_example(folder: str, plugin: str) -> dict[str, str]:
    """Return the node of each pod (an empty text if it has none) after `kubesched up --once` with an example."""
    example = CONTRIB / "examples" / folder
    files = [str(file) for file in sorted(example.glob("*.yaml")) if file.name != "config.yaml"]
    definitions = [str(file) for file in sorted((CONTRIB / "crds").glob("*.yaml"))]
    options = ["--once", "-o", "json", "--plugin", ENTRY_POINTS[plugin], "--config", str(example / "config.yaml")]
    command = [sys.executable, "-m", "kubesched", "up", *options, *definitions, *files]
    environment = {**os.environ, "PYTHONPATH": str(CONTRIB / "src")}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=CONTRIB.parent)
    # 3: pods are left that found no node
    assert ended.returncode in (0, 3), ended.stdout + ended.stderr
    return {pod["name"]: pod["node"] for pod in json.loads(ended.stdout)["pods"]}
