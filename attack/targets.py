"""The targets: the page, a cluster of `kubesched up`, a scheduler on the embedded control plane, and commands."""

import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import yaml

from attack.attacks import FellError, expect
from attack.processes import KUBESCHED, Process, until
from attack.web import PATIENCE_SECONDS, Web

COMMAND_SECONDS = 90.0
# to receive a large file, and to read it as far as it is read
OPENING_SECONDS = 110.0
PODS = "/api/v1/namespaces/default/pods"
CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class _Running:
    """A target with processes of its own in a folder of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="kubesched-attack-")
        self.folder = Path(self._folder.name)
        self.processes: list[Process] = []

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self.processes):
            process.end()
        self._folder.cleanup()

    def start(self) -> None:
        raise NotImplementedError

    def process(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Process:
        log = self.folder / f"log-{len(self.processes)}"
        self.processes.append(Process(log, *arguments, environment=environment))
        return self.processes[-1]

    def rss(self) -> float:
        return sum(process.rss() for process in self.processes)

    def check(self) -> None:
        for process in self.processes:
            expect(process.alive, f"the process ended: {process.text[-400:]}")
            expect("Traceback" not in process.text, f"a traceback: {process.text[-400:]}")
        try:
            self.serve_owner()
        except (OSError, TimeoutError) as error:
            raise FellError(f"its owner is not served: {type(error).__name__}: {error}") from None

    def serve_owner(self) -> None:
        """Raise FellError, OSError or TimeoutError if the owner is not served."""
        raise NotImplementedError


class Page(_Running):
    """The page of a small cluster, whose owner has the token."""

    def start(self) -> None:
        cluster = self.folder / "cluster.json"
        items = [a_node(f"n{number}") for number in range(3)] + [a_pod("waiting", cpu="100")]
        cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        process = self.process("page", "--from", str(cluster))
        found = process.says(lambda text: re.search(r"http://\S+?:(\d+)/#token=(\S+)", text))
        self.web = Web(int(found[1]), found[2])

    def serve_owner(self) -> None:
        status, found, _ = self.web.ask("GET", "/v1/cluster")
        expect(status == 200 and isinstance(found, dict), f"the owner is answered {status}")

    def opened(self, name: str, content: bytes) -> tuple[int, str]:
        """Return the status and the words of the answer to a file that is opened."""
        status, found, _ = self.web.ask("POST", f"/v1/scenario?name={name}", content, seconds=OPENING_SECONDS)
        return status, str(found.get("error") or found.get("done")) if isinstance(found, dict) else str(found)[:200]


class _WithServer(_Running):
    """A target with the embedded API server."""

    api: Web
    _number: ClassVar[int] = 0

    def serve_owner(self) -> None:
        """Expect that a pod is bound."""
        _WithServer._number += 1
        name = f"well-{_WithServer._number}"
        status, found, _ = self.api.ask("POST", PODS, a_pod(name))
        expect(status == 201, f"a pod is answered {status}: {str(found)[:200]}")
        until(lambda: self.is_bound(name), "a harmless pod is bound", PATIENCE_SECONDS)
        self.api.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")

    def is_bound(self, name: str) -> bool:
        found = self.api.ask("GET", f"{PODS}/{name}")[1]
        return bool(found.get("spec", {}).get("nodeName"))

    def delete_all(self, *paths: str) -> None:
        for path in paths:
            self.api.ask("DELETE", f"{path}?gracePeriodSeconds=0")


class Cluster(_WithServer):
    """A cluster of `kubesched up`, whose administrator has the kubeconfig."""

    def start(self) -> None:
        kubeconfig = self.folder / "kubeconfig"
        self.process("up", "--nodes", "3", "--kubeconfig", str(kubeconfig), environment=_home(self.folder))
        self.processes[0].says(lambda text: kubeconfig.exists() or None)
        self.api = api_of(kubeconfig)
        until(lambda: self.api.ask("GET", "/readyz")[0] == 200, "the server is ready", PATIENCE_SECONDS)


class Scheduler(_WithServer):
    """`kubesched run --reload` on the embedded control plane; its secure port is `pages`."""

    def start(self) -> None:
        own, kubeconfig = self.folder / "kubeconfig", self.folder / "scheduler-kubeconfig"
        server = self.process("controlplane", "--kubeconfig", str(own), "--scheduler-kubeconfig", str(kubeconfig))
        server.says(lambda text: "export KUBECONFIG" in text or None)
        self.api = api_of(own)
        for number in range(5):
            self.api.ask("POST", "/api/v1/nodes", a_node(f"n{number}"))
        self.config = self.folder / "scheduler.yaml"
        self.write_config("")
        port = free_port()
        self.scheduler = self.process(
            *("run", "--config", str(self.config), "--reload", "--secure-port", str(port)),
            *("--bind-address", "127.0.0.1"),
        )
        self.pages = Web(port, tls=ssl._create_unverified_context())
        until(self._is_healthy, "the scheduler is healthy", 60.0)

    def _is_healthy(self) -> bool:
        with contextlib.suppress(OSError):
            return self.pages.ask("GET", "/healthz")[0] == 200
        return False

    def write_config(self, more: str) -> None:
        """Write the configuration with some more of it, all at once."""
        text = (
            f"{CONFIGURATION}clientConnection: {{kubeconfig: {self.folder}/scheduler-kubeconfig}}\n"
            f"leaderElection: {{leaderElect: false}}\n{more}"
        )
        new = self.folder / "new.yaml"
        new.write_text(text)
        os.replace(new, self.config)


class Commands(_Running):
    """Commands that end; each is given hostile files, names or answers."""

    def start(self) -> None:
        pass

    def serve_owner(self) -> None:
        pass

    def ran(self, *arguments: str, environment: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """Return a command that has ended; one that takes too long fell."""
        try:
            return subprocess.run(
                [*KUBESCHED, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=COMMAND_SECONDS,
                cwd=self.folder,
                env={**os.environ, **_home(self.folder), **(environment or {})},
            )
        except subprocess.TimeoutExpired:
            raise FellError(f"kubesched {' '.join(arguments)[:80]} does not end") from None

    def refused(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        """Return the words with which a command refuses something; it has to be one that does."""
        done = self.ran(*arguments, environment=environment)
        expect(done.returncode not in (0, -9, -11), f"it ended with {done.returncode}")
        expect("Traceback" not in done.stderr, done.stderr[-400:])
        return done.stderr


def _home(folder: Path) -> dict[str, str]:
    """Return an environment in which nothing of the user is read or changed."""
    folders = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
    return {**dict.fromkeys(folders, str(folder)), "KUBECONFIG": str(folder / "kubeconfig")}


def api_of(kubeconfig: Path) -> Web:
    """Return the server of a kubeconfig that kubesched wrote."""
    document: Any = yaml.safe_load(kubeconfig.read_text())
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    authority = b64decode(cluster["certificate-authority-data"]).decode()
    return Web(int(cluster["server"].rpartition(":")[2]), user["token"], ssl.create_default_context(cadata=authority))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def a_node(name: str) -> dict[str, Any]:
    amounts = {"cpu": "32", "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def a_pod(name: str, cpu: str = "1m", meta: Mapping[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **(meta or {})},
        "spec": {"containers": [container], **spec},
    }
