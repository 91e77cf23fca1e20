"""A cluster of processes: an embedded control plane that can be killed and comes back, and schedulers on it.

From manifests and faults to a server whose address stays the same; its token and its authority are new after each
start, and the scheduler's kubeconfig names the files that hold them, so that it finds the new ones.
"""

import shutil
import signal
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import yaml
from tests.support.api_client import ApiClient, Document, document_of
from tests.support.control_plane import Process, a_control_plane
from tests.support.processes import SECONDS, SchedulerProcess, a_scheduler, eventually

from kubesched.api.meta import ApiObject
from kubesched.api.quantity import milli_value_of

# a lease that is lost within a few seconds, so that tests need not wait
SHORT_LEASE = (
    "--leader-elect-lease-duration=3s",
    "--leader-elect-renew-deadline=2s",
    "--leader-elect-retry-period=400ms",
)
ALONE = "--leader-elect=false"
# a plugin that lets a pod go on to be bound once a file exists
HELD = """
import asyncio
from pathlib import Path
from kubesched import PreBindPlugin

class Held(PreBindPlugin):
    name = "Held"

    async def pre_bind(self, cycle, pod, node_name):
        Path(__file__).with_name(f"{pod.name}.waits").write_text(node_name)
        while not Path(__file__).with_name(f"{pod.name}.go").exists():
            await asyncio.sleep(0.02)
"""


class Schedulers:
    """Starts schedulers on a cluster that a kubeconfig leads to; their files and logs are in a folder."""

    # the name that pods ask for
    scheduler_name = "default-scheduler"

    def __init__(self, folder: Path, kubeconfig: Path) -> None:
        self.folder = folder
        self.kubeconfig = kubeconfig
        # what must not be in any log
        self.secrets: list[str] = []

    @contextmanager
    def scheduler(self, *arguments: str, config: Document | None = None) -> Iterator[SchedulerProcess]:
        """Start a scheduler, which retries pods soon; it stays until the block is left."""
        content: Document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "podMaxBackoffSeconds": 1,
            "profiles": [{}],
            **(config or {}),
        }
        content["clientConnection"] = {"kubeconfig": str(self.kubeconfig), **content.get("clientConnection", {})}
        for profile in content["profiles"]:
            profile.setdefault("schedulerName", self.scheduler_name)
        file = self.folder / f"config-{len(list(self.folder.glob('config-*')))}.yaml"
        file.write_text(yaml.safe_dump(content))
        flags = ("--config", str(file), "--secure-port=0", *arguments)
        with a_scheduler(self.folder, *flags, secrets=self.secrets) as process:
            yield process

    def holding_scheduler(self, *arguments: str) -> AbstractContextManager[SchedulerProcess]:
        """Return a scheduler that holds each pod back right before it is bound, until `release`."""
        profile = {"plugins": {"preBind": {"enabled": [{"name": "Held"}]}}}
        file = self.plugin("held", HELD)
        return self.scheduler(*arguments, "--plugin", str(file), config={"profiles": [profile]})

    def until_held(self, pod: str) -> str:
        """Return the node that a pod is about to be bound to."""
        file = self.folder / f"{pod}.waits"
        return eventually(lambda: file.read_text() if file.exists() else "", f"pod {pod} is about to be bound")

    def release(self, pod: str) -> None:
        """Let a pod be bound."""
        (self.folder / f"{pod}.go").touch()

    def plugin(self, name: str, source: str) -> Path:
        """Write a plugin file; return where it is."""
        file = self.folder / f"{name}.py"
        file.write_text(source)
        return file


class ClusterState(Schedulers):
    """A control plane in a process, and schedulers on it."""

    def __init__(self, folder: Path, faults: Sequence[str] = (), *, durable: bool = False) -> None:
        super().__init__(folder, folder / "scheduler.kubeconfig")
        self.api: ApiClient
        self._flags = [part for fault in faults for part in ("--fault", fault)]
        if durable:
            self._flags += ["--data", str(folder / "data")]
        self._port = 0
        self._stack = ExitStack()
        self._server: Process

    def start(self, objects: Iterable[ApiObject | Document] = ()) -> None:
        """Start the server with some objects, at the address that it had before if there was one."""
        manifest = self.folder / "objects.json"
        items = [document_of(each) if isinstance(each, ApiObject) else each for each in objects]
        manifest.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))
        admin, given = self.folder / "admin.kubeconfig", self.folder / "given.kubeconfig"
        files = ("--kubeconfig", str(admin), "--scheduler-kubeconfig", str(given))
        self._server = self._stack.enter_context(
            a_control_plane(*files, "--port", str(self._port), *self._flags, str(manifest))
        )
        self._port = int(self._server.url.rpartition(":")[2])
        self.api = ApiClient(admin)
        self._hand_over(given)

    def kill(self) -> None:
        """Kill the server; unless it is durable, everything that it knew is gone."""
        self._server.process.kill()
        self._server.process.wait(SECONDS)

    def signal(self, number: int) -> None:
        """Send the server a signal."""
        self._server.process.send_signal(number)

    def stop(self) -> str:
        """End the server; return what it said of its faults."""
        return self._server.end(signal.SIGTERM)[2]

    def close(self) -> None:
        """End the server if it runs."""
        self._stack.close()

    def _hand_over(self, given: Path) -> None:
        """Write what the scheduler's kubeconfig names."""
        content: dict[str, Any] = yaml.safe_load(given.read_text())
        user, cluster = content["users"][0]["user"], content["clusters"][0]["cluster"]
        token = user.pop("token")
        self.secrets.append(token)
        replace(self.folder / "token", token)
        authority = b64decode(cluster.pop("certificate-authority-data"))
        replace(self.folder / "ca.crt", authority.decode())
        user["tokenFile"], cluster["certificate-authority"] = "token", "ca.crt"
        replace(self.kubeconfig, yaml.safe_dump(content))


@contextmanager
def a_cluster_process(
    folder: Path,
    objects: Iterable[ApiObject | Document] = (),
    *,
    faults: Sequence[str] = (),
    durable: bool = False,
) -> Iterator[ClusterState]:
    """Start a cluster; end it when the block is left. A durable one keeps everything when it is killed."""
    cluster = ClusterState(folder, faults, durable=durable)
    try:
        cluster.start(objects)
        yield cluster
    finally:
        cluster.close()


def replace(file: Path, content: str) -> None:
    """Replace a file in one step."""
    draft = file.with_name(f".{file.name}")
    draft.write_text(content)
    shutil.move(draft, file)


# -- how pods are


def node_of(api: ApiClient, pod: str, namespace: str = "default") -> str:
    """Return the node of a pod, an empty text if it has none."""
    found = api.get("Pod", pod, namespace)
    return str(found["spec"].get("nodeName", "")) if found else ""


def bound(api: ApiClient, pod: str, namespace: str = "default", seconds: float = SECONDS) -> str:
    """Return the node of a pod as soon as it is bound."""
    return eventually(lambda: node_of(api, pod, namespace), f"pod {namespace}/{pod} is bound", seconds)


def why_waiting(pod: Document) -> str:
    """Return what a pod's condition says of why it is not scheduled, an empty text if it does not."""
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message", ""))
    return ""


def unschedulable(api: ApiClient, pod: str, namespace: str = "default", seconds: float = SECONDS) -> str:
    """Return why a pod cannot be scheduled, as soon as it says so."""
    what = f"pod {namespace}/{pod} says why it is not scheduled"
    return eventually(lambda: why_waiting(api.get("Pod", pod, namespace) or {}), what, seconds)


def settled(api: ApiClient, namespace: str = "default", seconds: float = SECONDS) -> list[Document]:
    """Return the pods of a namespace as soon as each is bound or says why it is not; checks that all is well."""

    def check() -> list[Document] | None:
        pods = api.all("Pod", namespace)
        done = all(pod["spec"].get("nodeName") or why_waiting(pod) for pod in pods)
        return pods if done and pods else None

    pods = eventually(check, f"every pod in {namespace} is bound or says why not", seconds)
    check_placements(api, namespace)
    return pods


def check_placements(api: ApiClient, namespace: str = "default") -> None:
    """Fail if a node refused a pod, holds more than it has, or a pod was bound more than once."""
    used: Counter[str] = Counter()
    for pod in api.all("Pod", namespace):
        name, status = pod["metadata"]["name"], pod.get("status", {})
        assert status.get("phase") != "Failed", f"{name}: {status.get('reason')}: {status.get('message')}"
        if pod["spec"].get("nodeName"):
            used[pod["spec"]["nodeName"]] += _milli_cpu(pod)
    for node in api.all("Node"):
        name = node["metadata"]["name"]
        most = milli_value_of(node["status"].get("allocatable", {}).get("cpu", 0))
        assert used[name] <= most, f"node {name} has {most} milli-CPU, its pods ask for {used[name]}"
    told = Counter(
        event["regarding"].get("uid") for event in api.all("Event", namespace) if event.get("reason") == "Scheduled"
    )
    assert all(count == 1 for count in told.values()), told


def _milli_cpu(pod: Document) -> int:
    containers = pod["spec"]["containers"]
    return sum(milli_value_of(c.get("resources", {}).get("requests", {}).get("cpu", 0)) for c in containers)


def all_bound(api: ApiClient, count: int, namespace: str = "default", seconds: float = SECONDS) -> None:
    """Return as soon as so many pods of a namespace are bound; checks that all is well."""

    def check() -> bool:
        pods = api.all("Pod", namespace)
        return sum(bool(pod["spec"].get("nodeName")) for pod in pods) >= count

    eventually(check, f"{count} pods in {namespace} are bound", seconds)
    check_placements(api, namespace)
