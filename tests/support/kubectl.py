"""The real kubectl, for tests: a client that knows nothing of us.

From words of a command line to what it writes. `is_missing` tells whether there is one that is new enough.
"""

import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.programs import is_there

SECONDS = 60.0
OLDEST = (1, 30)
WHY_MISSING = "no kubectl 1.30 or later on PATH"


def is_missing() -> bool:
    """Return whether there is no kubectl on PATH that is new enough."""
    return not is_there("kubectl", not _is_missing(), WHY_MISSING)


@cache
def _is_missing() -> bool:
    if shutil.which("kubectl") is None:
        return True
    found = subprocess.run(["kubectl", "version", "--client"], capture_output=True, text=True, timeout=SECONDS)
    numbers = re.search(r"v(\d+)\.(\d+)", found.stdout)
    return numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST


class Kubectl:
    """kubectl with a server, in a namespace if one is given."""

    def __init__(self, config: Path, home: Path, namespace: str = "") -> None:
        self._environment = {**os.environ, "KUBECONFIG": str(config), "HOME": str(home), "KUBE_EDITOR": "cat"}
        self._options = ["--namespace", namespace] if namespace else []

    def run(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Return what has become of a command."""
        return subprocess.run(
            ["kubectl", *self._options, *words],
            input=text,
            capture_output=True,
            text=True,
            env=self._environment,
            timeout=SECONDS,
        )

    def __call__(self, *words: str, text: str = "") -> str:
        """Return what a command that must work writes."""
        found = self.run(*words, text=text)
        assert found.returncode == 0, found.stderr
        return found.stdout.strip()

    def refused(self, *words: str, text: str = "") -> str:
        """Return the complaint of a command that must not work."""
        found = self.run(*words, text=text)
        assert found.returncode == 1, found.stdout
        return found.stderr.strip()

    def json(self, *words: str) -> Any:
        """Return the object, or the list, that a command shows."""
        return json.loads(self(*words, "-o", "json"))

    def table(self, *words: str) -> list[list[str]]:
        """Return the lines of a table, as words between at least two spaces."""
        return [re.split(r"\s{2,}", line.strip()) for line in self(*words).splitlines() if line]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Return a command that goes on."""
        return subprocess.Popen(
            ["kubectl", *self._options, *words], stdout=subprocess.PIPE, text=True, env=self._environment
        )
