"""The examples of plugins, run as their pages in docs/guides/plugins/contrib say, with `kubesched try`."""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONTRIB = Path(__file__).parents[1]
PAGES = CONTRIB.parents[1] / "docs" / "guides" / "plugins" / "contrib"
ENTRY_POINTS: dict[str, str] = tomllib.loads((CONTRIB / "pyproject.toml").read_text())["project"]["entry-points"][
    "kubesched.plugins"
]
SECONDS = 120.0
# how the pages begin the commands that are run here; tests/documents run the page that has others
TRY, SERVER = "kubesched try ", "python3 -m http.server 2020 "


def commands_of(page: str) -> list[str]:
    """Return the commands that a page shows, without their comments."""
    text = (PAGES / f"{page}.md").read_text()
    return [re.sub(r"\s+#\s.*$", "", line) for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE)]


@contextmanager
def installed() -> Iterator[str]:
    """Yield a PYTHONPATH with which the plugins are found as `pip install kubesched-contrib` has them found."""
    with tempfile.TemporaryDirectory() as folder:
        information = Path(folder) / "kubesched_contrib-0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: kubesched-contrib\nVersion: 0\n")
        points = "\n".join(f"{name} = {value}" for name, value in ENTRY_POINTS.items())
        (information / "entry_points.txt").write_text(f"[kubesched.plugins]\n{points}\n")
        yield f"{folder}{os.pathsep}{CONTRIB / 'src'}"


@contextmanager
def serving(page: str) -> Iterator[int]:
    """Run the server that a page shows, on any free port; yield the port."""
    (command,) = (each for each in commands_of(page) if each.startswith(SERVER))
    command = command.replace("python3 -m http.server 2020", f"{sys.executable} -u -m http.server 0")
    with subprocess.Popen(
        ["sh", "-c", f"exec {command}"],
        cwd=CONTRIB.parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            said = re.search(r" port (\d+) ", server.stdout.readline())
            assert said is not None, command
            yield int(said[1])
        finally:
            server.terminate()


def run_example_with_server(page: str, tmp_path: Path) -> dict[str, str]:
    """Run an example whose configuration names the server on port 2020 that its page shows."""
    given = f"packages/contrib/examples/{page}/config.yaml"
    with serving(page) as port:
        config = tmp_path / "config.yaml"
        text = (CONTRIB.parents[1] / given).read_text()
        config.write_text(text.replace("127.0.0.1:2020", f"127.0.0.1:{port}"))
        return run_example(page, {given: str(config)})


def run_example(page: str, instead: dict[str, str] | None = None) -> dict[str, str]:
    """Return the node of each pod (an empty text if it has none) after the `kubesched try` of a page.

    `instead` has words of the command and what takes their place.
    """
    (command,) = (each for each in commands_of(page) if each.startswith(TRY))
    for words, others in (instead or {}).items():
        assert words in command
        command = command.replace(words, others)
    command = command.replace(TRY, f"{sys.executable} -m {TRY}-o json ")
    with installed() as path:
        ended = subprocess.run(
            ["sh", "-c", command],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, "PYTHONPATH": path},
            cwd=CONTRIB.parents[1],
        )
    # 3: pods are left that found no node
    assert ended.returncode in (0, 3), ended.stdout + ended.stderr
    return {pod["name"]: pod["node"] for pod in json.loads(ended.stdout)["pods"]}
