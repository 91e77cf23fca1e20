"""What helm renders of three common charts: it is applied, settles, stays as it is when applied again, and goes.

The charts in `data/charts` are written for this test, with all that templates leave behind: empty documents, empty
objects and lists, nulls, hooks. The same stories are told in one process in virtual time, and with the real kubectl
where there is one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.control_plane import a_local_cluster
from tests.support.kubectl import SECONDS, WHY_MISSING, Kubectl, is_missing

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.intree import IN_TREE
from kubesched.config.load import load
from kubesched.core.framework.building.registry import Registry
from kubesched.manifests import Manifest, read
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient, path_of
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.cluster import ClusterSpec, LocalCluster

Document = dict[str, Any]
# the objects of a kind, in the namespace of a chart
Get = Callable[[str], list[Document]]

CHARTS = Path(__file__).parent / "data" / "charts"
CLUSTER = CHARTS / "cluster.yaml"
IN_EVERY_NAMESPACE = ("kube-root-ca.crt", "default", "kubernetes")
WORKLOADS = {"web": "Deployment", "database": "StatefulSet", "agent": "DaemonSet"}


# -- how it looks when a chart has settled


def only(get: Get, kind: str) -> Document:
    (found,) = (each for each in get(kind) if each["metadata"]["name"] not in IN_EVERY_NAMESPACE)
    return found


def pods_of(get: Get, chart: str) -> list[Document]:
    label = "app.kubernetes.io/name"
    return [pod for pod in get("Pod") if (pod["metadata"].get("labels") or {}).get(label) == chart]


def places(pods: list[Document]) -> list[str]:
    return sorted(pod["spec"].get("nodeName", "") for pod in pods)


def web_is_up(get: Get) -> bool:
    status = only(get, "Deployment").get("status") or {}
    available = {each["type"]: each["status"] for each in status.get("conditions") or ()}.get("Available")
    allowed = only(get, "PodDisruptionBudget")["status"].get("disruptionsAllowed")
    done = only(get, "Job")["status"].get("succeeded")
    return (status.get("availableReplicas"), available, allowed, done) == (3, "True", 1, 1)


def check_web(get: Get) -> None:
    assert places(pods_of(get, "web")) == ["worker-a", "worker-b", "worker-c"], "one a zone"
    autoscaler = only(get, "HorizontalPodAutoscaler")
    assert [metric["resource"]["name"] for metric in autoscaler["spec"]["metrics"]] == ["cpu", "memory"]
    assert only(get, "Ingress")["spec"]["ingressClassName"] == "nginx"
    service = only(get, "Service")["spec"]
    assert (service["ports"][0]["targetPort"], bool(service["clusterIP"])) == ("http", True)
    assert only(get, "Secret")["data"].keys() == {"password", "url"}
    assert "# --- not the end" in only(get, "ConfigMap")["data"]["nginx.conf"]


def database_is_up(get: Get) -> bool:
    status = only(get, "StatefulSet").get("status") or {}
    return (status.get("readyReplicas"), status.get("availableReplicas")) == (3, 3)


def check_database(get: Get) -> None:
    pods = pods_of(get, "database")
    assert places(pods) == ["worker-a", "worker-b", "worker-c"], "none beside another"
    claims = {each["metadata"]["name"]: each for each in get("PersistentVolumeClaim")}
    assert claims.keys() == {f"data-release-database-{number}" for number in range(3)}
    assert {each["status"]["phase"] for each in claims.values()} == {"Bound"}
    assert {each["spec"]["storageClassName"] for each in claims.values()} == {"standard"}
    services = {each["metadata"]["name"]: each["spec"] for each in get("Service")}
    assert services["release-database-hl"]["clusterIP"] == "None"
    assert services["release-database"]["ports"][0]["nodePort"] >= 30000


def agent_is_up(get: Get) -> bool:
    status = only(get, "DaemonSet").get("status") or {}
    return (status.get("desiredNumberScheduled"), status.get("numberAvailable")) == (4, 4)


def check_agent(get: Get) -> None:
    pods = pods_of(get, "agent")
    assert places(pods) == ["control", "worker-a", "worker-b", "worker-c"], "not where it is not tolerated"
    assert {pod["spec"]["priority"] for pod in pods} == {1_000_000}
    assert {pod["spec"]["containers"][0]["ports"][0]["hostPort"] for pod in pods} == {9100}, "on the host's network"
    assert only(get, "RoleBinding")["subjects"][0]["name"] == "release-agent"


IS_UP: dict[str, Callable[[Get], bool]] = {"web": web_is_up, "database": database_is_up, "agent": agent_is_up}
CHECK: dict[str, Callable[[Get], None]] = {"web": check_web, "database": check_database, "agent": check_agent}


# -- in one process


class Installing:
    """A cluster in virtual time, and a chart that is to be installed there."""

    def __init__(self, chart: str) -> None:
        loop = asyncio.get_running_loop()
        beginning, start = datetime(2026, 1, 1, tzinfo=UTC), loop.time()
        self.notes: list[str] = []
        self.server = ApiServer(
            access=always_allow,
            clock=lambda: beginning + timedelta(seconds=loop.time() - start),
            seed=1,
            note=self.notes.append,
        )
        self.client = LocalClient(self.server, ADMINISTRATOR)
        bootstrap(self.client)
        self.transport = Transport(self.server)
        wishes = ClusterSpec(load(None, None, IN_TREE), Registry(), date=self.server.registry.clock)
        self.cluster = LocalCluster(self.transport, wishes, self.notes.append)
        self.manifests, problems = read([str(CHARTS / f"{chart}.yaml")])
        nodes, others = read([str(CLUSTER)])
        assert problems + others + create(self.server, nodes).problems == []

    def get(self, kind: str) -> list[Document]:
        """Return the objects of a kind."""
        found = (each for each in self.server.registry.catalog.resources if each.kind == kind)
        return [stored.document() for stored in self.client.stored(next(found)) if stored.namespace == "default"]

    def load(self) -> None:
        """Create what the chart has."""
        assert create(self.server, self.manifests).problems == []

    def apply(self) -> None:
        """Apply what the chart has, on the server's side."""
        for manifest in self.manifests:
            path, asking = self._path(manifest), Asking(self.server)
            form, query = "application/apply-patch+yaml", {"fieldManager": "helm", "force": "true"}
            asking.ok("PATCH", path, manifest.document, form, **query)

    def versions(self) -> list[str]:
        """Return the versions of all that the chart has."""
        found = [Asking(self.server).ok("GET", self._path(manifest)) for manifest in self.manifests]
        return [each["metadata"]["resourceVersion"] for each in found]

    def delete(self) -> None:
        """Delete what the chart has, the last first."""
        for manifest in reversed(self.manifests):
            Asking(self.server).ok("DELETE", self._path(manifest), propagationPolicy="Background")

    def left(self) -> list[str]:
        """Return what is left of the chart."""
        kinds = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision", "Job", "Pod", "Service")
        return [each["metadata"]["name"] for kind in kinds for each in self.get(kind)]

    def _path(self, manifest: Manifest) -> str:
        resource = self.client.resource(manifest.document["apiVersion"], manifest.kind)
        return path_of(resource, "default" if resource.namespaced else "", manifest.name)


def installing(chart: str, story: Callable[[Installing], Awaitable[None]]) -> None:
    async def run() -> None:
        installing = Installing(chart)
        installing.transport.start()
        async with installing.cluster.running():
            await story(installing)
        installing.transport.stop()
        assert installing.notes == []

    run_in_virtual_time(run())


@pytest.mark.parametrize("how", [Installing.load, Installing.apply], ids=["loaded", "applied"])
@pytest.mark.parametrize("chart", WORKLOADS)
def test_a_chart_settles_and_goes(chart: str, how: Callable[[Installing], None]) -> None:
    async def story(there: Installing) -> None:
        how(there)
        await there.cluster.until_settled()
        # what is measured in time: pods that run, a Job that ends
        await asyncio.sleep(30)
        assert IS_UP[chart](there.get)
        CHECK[chart](there.get)
        there.apply()
        before = there.versions()
        there.apply()
        assert there.versions() == before, "nothing has changed"
        there.delete()
        await asyncio.sleep(60)
        assert there.left() == []
        assert len(there.get("PersistentVolumeClaim")) == (3 if chart == "database" else 0), "claims stay"

    installing(chart, story)


# -- with the real kubectl


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if is_missing():
        pytest.skip(WHY_MISSING)
    folder = tmp_path_factory.mktemp("charts")
    own = {"XDG_STATE_HOME": str(folder)}
    with a_local_cluster("--kubeconfig", str(folder / "config"), str(CLUSTER), **own) as process:
        yield folder
        code, _, err = process.end()
        assert (code, err) == (0, ""), "nothing went wrong inside"


@pytest.mark.slow
@pytest.mark.parametrize("mode", [(), ("--server-side",)], ids=["client-side", "server-side"])
@pytest.mark.parametrize("chart", WORKLOADS)
def test_kubectl_installs_a_chart(home: Path, chart: str, mode: tuple[str, ...]) -> None:
    namespace = f"{chart}-{len(mode)}"
    kubectl = Kubectl(home / "config", home, namespace)
    kubectl("create", "namespace", namespace)
    file = ("-f", str(CHARTS / f"{chart}.yaml"))

    def get(kind: str) -> list[Document]:
        found: list[Document] = kubectl.json("get", kind)["items"]
        return found

    def versions() -> list[str]:
        return [each["metadata"]["resourceVersion"] for each in kubectl.json("get", *file)["items"]]

    kubectl("apply", *mode, *file)
    kubectl("rollout", "status", f"{WORKLOADS[chart]}/release-{chart}", f"--timeout={int(SECONDS)}s")
    soon(lambda: IS_UP[chart](get))
    CHECK[chart](get)
    # controllers and nodes may still write statuses: the versions are taken once there is nothing left to write
    before: list[str] = []

    def is_quiet() -> bool:
        before[:] = versions()
        ended = all(
            pod["spec"]["restartPolicy"] == "Always" or pod["status"]["phase"] in ("Succeeded", "Failed")
            for pod in get("Pod")
        )
        measured = all(each["status"].get("currentMetrics") for each in get("HorizontalPodAutoscaler"))
        if not (ended and measured):
            return False
        time.sleep(1.0)
        return versions() == before

    soon(is_quiet)
    kubectl("apply", *mode, *file)
    assert versions() == before, "nothing has changed"
    found = kubectl.run("diff", *mode, *file)
    assert (found.returncode, found.stdout) == (0, ""), found.stderr
    kubectl("delete", *file, f"--timeout={int(SECONDS)}s")
    soon(lambda: not get("Pod") and not get("ReplicaSet") and not get("ControllerRevision"))
    kubectl("delete", "namespace", namespace, f"--timeout={int(SECONDS)}s")


def test_kubectl_is_told_of_kinds_that_nobody_has_defined(home: Path) -> None:
    kubectl = Kubectl(home / "config", home)
    monitor = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web}\nspec: {}\n"
    complaint = kubectl.refused("apply", "-f", "-", text=monitor)
    assert 'no matches for kind "ServiceMonitor" in version "monitoring.coreos.com/v1"' in complaint
    assert "ensure CRDs are installed first" in complaint


def soon(condition: Callable[[], object]) -> None:
    """Wait for something that happens soon."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
