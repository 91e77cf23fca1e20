"""The example of a plugin, run by `kubesched up --once`."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

CONTRIB = Path(__file__).parents[1]
ENTRY_POINTS: dict[str, str] = tomllib.loads((CONTRIB / "pyproject.toml").read_text())["project"]["entry-points"][
    "kubesched.plugins"
]


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """Serve the files of a folder over HTTP, as `python3 -m http.server` does; yield the port."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run_example_with_server(folder: str, plugin: str, files: str, tmp_path: Path) -> dict[str, str]:
    """Run an example whose configuration names a server on port 2020, which has the files in one of its folders."""
    example = CONTRIB / "examples" / folder
    with serving(example / files) as port:
        config = tmp_path / "config.yaml"
        config.write_text((example / "config.yaml").read_text().replace("127.0.0.1:2020", f"127.0.0.1:{port}"))
        return run_example(folder, plugin, config)


def run_example(folder: str, plugin: str, config: Path | None = None) -> dict[str, str]:
    """Return the node of each pod (an empty text if it has none) after `kubesched up --once` with an example."""
    example = CONTRIB / "examples" / folder
    files = [str(file) for file in sorted(example.glob("*.yaml")) if file.name != "config.yaml"]
    definitions = [str(file) for file in sorted((CONTRIB / "crds").glob("*.yaml"))]
    options = [
        "--once",
        "-o",
        "json",
        "--plugin",
        ENTRY_POINTS[plugin],
        "--config",
        str(config or example / "config.yaml"),
    ]
    command = [sys.executable, "-m", "kubesched", "up", *options, *definitions, *files]
    environment = {**os.environ, "PYTHONPATH": str(CONTRIB / "src")}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=CONTRIB.parent)
    # 3: pods are left that found no node
    assert ended.returncode in (0, 3), ended.stdout + ended.stderr
    return {pod["name"]: pod["node"] for pod in json.loads(ended.stdout)["pods"]}
