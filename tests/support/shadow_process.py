"""`kubesched shadow` as a process of its own, beside the scheduler of a cluster.

From a kubeconfig and options to the answer that it prints when it is ended.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from tests.support.processes import SECONDS, eventually

# what it says when it follows the cluster
BEGUN = "judging decisions from now on"
PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""


class ShadowProcess:
    """A shadow that is under way, or was."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path, errors: Path) -> None:
        self.process = process
        self._output = output
        self._errors = errors

    @property
    def log(self) -> str:
        """Return what it told so far on standard error."""
        return self._errors.read_text("utf-8", errors="replace")

    def begins(self) -> None:
        """Return as soon as decisions are judged."""

        def check() -> bool:
            assert self.process.poll() is None, self.log
            return BEGUN in self.log

        eventually(check, "shadow follows the cluster")

    def answer(self) -> dict[str, Any]:
        """Return what it printed, as soon as it has ended."""
        self.process.wait(SECONDS)
        assert "Traceback" not in self.log, self.log
        text = self._output.read_bytes()
        assert text, self.log
        found: dict[str, Any] = msgspec.json.decode(text)
        return found

    def end(self) -> dict[str, Any]:
        """End it as Ctrl-C does; return what it printed."""
        self.process.send_signal(signal.SIGINT)
        return self.answer()


@contextmanager
def a_shadow(folder: Path, kubeconfig: Path, *options: str, config: str = "") -> Iterator[ShadowProcess]:
    """Start `kubesched shadow -o json`, which judges from the begin of the block on; end it when the block is left."""
    number = len(list(folder.glob("shadow-*.json")))
    output, errors = folder / f"shadow-{number}.json", folder / f"shadow-{number}.log"
    if config:
        file = folder / f"shadow-{number}.yaml"
        file.write_text(config)
        options = ("--config", str(file), *options)
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "kubesched", "shadow", "-o", "json", *options],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        )
    shadow = ShadowProcess(process, output, errors)
    try:
        shadow.begins()
        yield shadow
    finally:
        process.kill()
        process.wait(SECONDS)
