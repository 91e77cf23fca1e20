"""A backlog drained over HTTP: how fast, for how much processor time and memory, next to a scheduler without thoughts.

    python -m benchmarks.cluster --kubeconfig ADMIN.kubeconfig --subject 'kubesched run --config {config}' \
        --subject 'kube-scheduler --config {config}' --null --nodes 5000 --pods 5000

Works on any cluster that may be filled with nodes and pods without kubelets: a bare kube-apiserver with etcd, or
`kubesched controlplane`. For each subject the pods are created anew; a subject is started when all of them wait, and
timed until all are bound, and until the events of all that are written; processor time is that of both. Figures are
ratios within one run: machines are noisy.
"""

import argparse
import asyncio
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import Refused, RestClient

CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
clientConnection: {{kubeconfig: {kubeconfig}, qps: 5000, burst: 5000, contentType: {content_type}}}
"""
NAMESPACE = "bench"
EVENTS = f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"
AT_ONCE = 40
ADDED = b'"type":"ADDED"'
TICKS = os.sysconf("SC_CLK_TCK")


def a_node(number: int) -> dict[str, Any]:
    name = f"bench-{number}"
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "topology.kubernetes.io/region": "region",
    }
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ok"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
    return {"metadata": {"name": name, "labels": labels}, "status": status}


def a_pod(number: int, kind: str) -> dict[str, Any]:
    requests = {"cpu": "100m", "memory": "128Mi"}
    spec: dict[str, Any] = {
        "containers": [{"name": "c", "image": "none.invalid/x:1", "resources": {"requests": requests}}]
    }
    labels = {"app": "bench"}
    selector = {"matchLabels": labels}
    if kind == "spread":
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector,
            }
        ]
    elif kind == "affinity":
        term = {"labelSelector": selector, "topologyKey": "topology.kubernetes.io/zone"}
        spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == "anti":
        labels = {"app": f"bench-{number % 100}"}
        term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {"metadata": {"name": f"pod-{number}", "labels": labels}, "spec": spec}


class ClusterState:
    """The cluster to fill."""

    def __init__(self, kubeconfig: str) -> None:
        self.rest = RestClient(load_rest_config(kubeconfig), "kubesched-bench", most_connections=AT_ONCE)

    async def all(self, method: str, path: str, documents: list[dict[str, Any]]) -> None:
        """Send many documents, some at once; what exists already is left alone."""
        left = iter(documents)

        async def work() -> None:
            for document in left:
                try:
                    await self.rest.send(method, path, msgspec.json.encode(document))
                except Refused as refused:
                    if refused.code != 409:
                        raise

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def bound(self) -> tuple[int, int]:
        """Return how many pods are bound, of how many."""
        body = await self.rest.get(f"/api/v1/namespaces/{NAMESPACE}/pods", {"resourceVersion": "0"})
        pods = msgspec.json.decode(body)["items"]
        return sum(1 for pod in pods if pod["spec"].get("nodeName")), len(pods)

    async def told(self) -> int:
        """Return how many events there are."""
        body = await self.rest.get(EVENTS, {"limit": "1"})
        found = msgspec.json.decode(body)
        return len(found["items"]) + int(found["metadata"].get("remainingItemCount", 0))

    async def clear(self) -> None:
        """Delete all pods and events at once."""
        options = msgspec.json.encode({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
        while (await self.bound())[1]:
            await self.rest.send("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods", options)
        while await self.told():
            await self.rest.send("DELETE", EVENTS, options)

    async def fill(self, nodes: int) -> None:
        """Create namespace and nodes, their status included."""
        await self.all("POST", "/api/v1/namespaces", [{"metadata": {"name": NAMESPACE}}])
        await self.all("POST", "/api/v1/nodes", [a_node(number) for number in range(nodes)])


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process, its children included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / TICKS


def memory_mib(pid: int) -> float:
    """Return the largest resident size that a process has had."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


class Bound:
    """Counts pods as they are bound, by a watch: asking again and again would take the API server's time."""

    def __init__(self, cluster: ClusterState, pods: int) -> None:
        self._cluster = cluster
        self._pods = pods
        self._began = time.monotonic()
        self.count = 0
        # seconds from the beginning to the first binding and to the last
        self.first = self.last = 0.0

    async def watch(self) -> None:
        """Return when all are bound."""
        query = {"watch": "true", "fieldSelector": "spec.nodeName!=", "timeoutSeconds": "3600"}
        async with self._cluster.rest.stream(f"/api/v1/namespaces/{NAMESPACE}/pods", query) as stream:
            end = b""
            async for piece in stream.iter_any():
                text = end + piece
                self.count += text.count(ADDED)
                # the beginning of one that is not whole yet
                end = text[1 - len(ADDED) :]
                self.last = time.monotonic() - self._began
                self.first = self.first or self.last
                if self.count >= self._pods:
                    return


async def drain(cluster: ClusterState, command: list[str], pods: int, log: Path) -> dict[str, float]:
    """Start a subject, wait until all pods are bound, and return the figures."""
    with log.open("wb") as out:
        bound, began = Bound(cluster, pods), time.monotonic()
        process = await asyncio.create_subprocess_exec(*command, stdout=out, stderr=out)
        watching = asyncio.create_task(bound.watch())
        try:
            ended = asyncio.create_task(process.wait())
            await asyncio.wait({watching, ended}, timeout=600, return_when=asyncio.FIRST_COMPLETED)
            if not watching.done():
                raise SystemExit(f"{shlex.join(command)} did not bind all pods ({bound.count} of {pods}); see {log}")
            watching.result()
            told = await cluster.told()
            # what is bound is to be told, too: whoever puts that off has not finished
            while await cluster.told() < pods and time.monotonic() - began < 600:
                await asyncio.sleep(0.1)
            finished = time.monotonic() - began
            cpu, memory = cpu_seconds(process.pid), memory_mib(process.pid)
        finally:
            watching.cancel()
            if process.returncode is None:
                process.terminate()
                await process.wait()
    return {
        "pods/s": pods / bound.last,
        "told by then": told,
        "with events": pods / finished,
        "first s": bound.first,
        "cpu ms/pod": 1000 * cpu / pods,
        "MiB": memory,
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", required=True, help="of somebody who may create nodes and pods")
    parser.add_argument("--scheduler-kubeconfig", help="that the subjects get; the same by default")
    parser.add_argument("--subject", action="append", default=[], help="a command; {config} is its configuration file")
    parser.add_argument("--null", action="store_true", help="also a scheduler that binds without thought")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--kind", action="append", choices=("plain", "spread", "affinity", "anti"))
    parser.add_argument("--content-type", default="application/json")
    options = parser.parse_args()
    kubeconfig = options.scheduler_kubeconfig or options.kubeconfig
    cluster = ClusterState(options.kubeconfig)
    print(f"filling {options.nodes} nodes", file=sys.stderr)
    await cluster.fill(options.nodes)
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text(CONFIG.format(kubeconfig=kubeconfig, content_type=options.content_type))
        subjects = {subject: shlex.split(subject.format(config=config)) for subject in options.subject}
        if options.null:
            subjects["null"] = [sys.executable, "-m", "benchmarks.null_scheduler", kubeconfig]
        for kind in options.kind or ["plain"]:
            for name, command in subjects.items():
                await cluster.clear()
                documents = [a_pod(number, kind) for number in range(options.pods)]
                await cluster.all("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", documents)
                figures = await drain(cluster, command, options.pods, Path(tempfile.gettempdir()) / "bench-subject.log")
                shown = "  ".join(f"{key} {value:8.2f}" for key, value in figures.items())
                print(f"{kind:9} {shown}  {name}", flush=True)
    await cluster.rest.close()


if __name__ == "__main__":
    asyncio.run(main())
