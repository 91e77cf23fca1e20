"""A cluster that settles: Deployments become pods, the pods are placed, run and are counted, all in `kubesched up`.

    python -m benchmarks.settling [--nodes 5000] [--deployments 500] [--replicas 40]
    python -m benchmarks.settling --one 5000 [--nodes 1000]

The first writes manifests, has `kubesched try` settle them in a process of its own and checks where every pod is.
The second has one large Deployment rolled out, given a new image, scaled and deleted through the API of a cluster that
stays, and before it one of a quarter of its size: what a pod costs must not depend on how many neighbours it has.
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from benchmarks.controlplane import a_node, cpu_seconds, memory_mib
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import Refused, RestClient

NAMESPACES = 20
TIMEOUT_SECONDS = 900
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Document = dict[str, Any]


# -- the cluster


def _container(version: int = 1) -> Document:
    return {
        "name": "main",
        "image": f"registry.example.com/team/service:{version}",
        "ports": [{"name": "http", "containerPort": 8080}],
        "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "PORT", "value": "8080"}],
        "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "512Mi"}},
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "periodSeconds": 10},
    }


def _wishes(number: int, labels: dict[str, str]) -> Document:
    """Return what the pods of a Deployment ask for besides resources: half of them nothing, as in real clusters."""
    selector = {"matchLabels": {"app.kubernetes.io/name": labels["app.kubernetes.io/name"]}}
    spread = {"maxSkew": 1, "labelSelector": selector}
    here = {"labelSelector": selector, "topologyKey": HOST}
    kind = number % 10
    if kind == 5:
        return {"topologySpreadConstraints": [{**spread, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}]}
    if kind == 6:
        return {"topologySpreadConstraints": [{**spread, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway"}]}
    if kind == 7:
        term = {"weight": 100, "podAffinityTerm": here}
        return {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}}
    if kind == 8:
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [here]}}}
    if kind == 9:
        return {"nodeSelector": {ZONE: f"zone-{number % 3}"}}
    return {}


def a_deployment(number: int, replicas: int) -> Iterator[Document]:
    """Yield a Deployment, its Service and, for some, its budget."""
    name, namespace = f"service-{number:03}", f"team-{number % NAMESPACES:02}"
    labels = {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/part-of": f"product-{number % 7}",
        "app.kubernetes.io/version": f"1.{number % 13}",
        "tier": ("web", "worker", "cache")[number % 3],
    }
    meta = {"name": name, "namespace": namespace, "labels": labels}
    own = {"app.kubernetes.io/name": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [_container()], **_wishes(number, labels)}}
    spec = {"replicas": replicas, "selector": {"matchLabels": own}, "template": template}
    yield {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}
    ports = [{"name": "http", "port": 80, "targetPort": "http"}]
    yield {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"selector": own, "ports": ports}}
    if number % 5 == 0:
        budget = {"maxUnavailable": "25%", "selector": {"matchLabels": own}}
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": budget}


def write_nodes(folder: Path, nodes: int) -> None:
    """Write nodes as a cluster would list them."""
    items = [a_node(number) for number in range(nodes)]
    (folder / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def write_deployments(folder: Path, deployments: int, replicas: int) -> None:
    """Write Deployments as people would."""
    documents = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{number:02}"}}
        for number in range(NAMESPACES)
    ]
    for number in range(deployments):
        documents += a_deployment(number, replicas)
    (folder / "deployments.yaml").write_text(yaml.dump_all(documents, Dumper=yaml.CSafeDumper))


# -- many Deployments, once


class Settled(NamedTuple):
    """What one run gave."""

    seconds: float
    cpu_seconds: float
    peak_mib: float
    report: Document


def settle(folder: Path) -> Settled:
    """Return what `kubesched try` says of the manifests in a folder, and what it took."""
    output = folder / "report"
    command = [sys.executable, "-m", "kubesched", "try", "-o", "json", "--timeout", f"{TIMEOUT_SECONDS}s"]
    began = time.monotonic()
    with output.open("wb") as out:
        process = subprocess.Popen([*command, str(folder)], stdout=out)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    # 3: pods are left that found no node, which is looked at below
    if process.returncode not in (0, 3):
        sys.exit(f"kubesched up ended with {process.returncode}")
    return Settled(
        seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, msgspec.json.decode(output.read_bytes())
    )


def faults(report: Document, nodes: int, deployments: int, replicas: int) -> Iterator[str]:
    """Yield what is wrong with where pods are."""
    pods = report["pods"]
    if report["nodes"] != nodes or len(pods) != deployments * replicas:
        yield f"{report['nodes']} nodes and {len(pods)} pods"
    states = Counter(pod["status"] if pod["node"] else "not bound" for pod in pods)
    if set(states) != {"Running"}:
        yield f"pods are {dict(states)}"
    sets = Counter((pod["namespace"], pod["name"].rpartition("-")[0]) for pod in pods)
    if len(sets) != deployments or set(sets.values()) != {replicas}:
        yield f"{len(sets)} replica sets, with {sorted(set(sets.values()))} pods"
    per_node = Counter(pod["node"] for pod in pods)
    if per_node and max(per_node.values()) > 64:
        yield f"{max(per_node.values())} pods on a node that has room for 64"


def many(nodes: int, deployments: int, replicas: int) -> None:
    """Measure, check and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_nodes(folder, nodes)
        write_deployments(folder, deployments, replicas)
        settled = settle(folder)
    pods = deployments * replicas
    print(f"{nodes} nodes, {deployments} Deployments, {pods} pods: settled in {settled.seconds:.1f} s")
    print(f"processor {settled.cpu_seconds:.1f} s ({1000 * settled.cpu_seconds / pods:.2f} ms a pod)")
    print(f"peak memory {settled.peak_mib:.0f} MiB")
    wrong = list(faults(settled.report, nodes, deployments, replicas))
    if wrong:
        sys.exit("; ".join(wrong))


# -- one Deployment, through its life


class Stays:
    """`kubesched up` with some nodes, for as long as the block is open."""

    def __init__(self, folder: Path) -> None:
        config = folder / "kubeconfig"
        command = [sys.executable, "-m", "kubesched", "up", "--name", f"bench-{os.getpid()}"]
        command += ["--kubeconfig", str(config), str(folder)]
        # what happens is told line by line; nobody here reads it
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self._config = config

    @property
    def pid(self) -> int:
        """Return the process."""
        return self._process.pid

    def rest(self) -> RestClient:
        """Return a way to the API, once there is one."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while not self._config.exists():
            if self._process.poll() is not None or time.monotonic() > until:
                sys.exit("kubesched up does not serve")
            time.sleep(0.05)
        return RestClient(load_rest_config(str(self._config)), "kubesched-bench")

    def __enter__(self) -> "Stays":
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.communicate()


class One:
    """One Deployment, and how it stands."""

    def __init__(self, rest: RestClient, pid: int) -> None:
        self._rest = rest
        self._pid = pid
        self._path = "/apis/apps/v1/namespaces/default/deployments"

    async def step(self, method: str, body: Document | None, done: Callable[[Document], bool]) -> tuple[float, float]:
        """Ask for a change; return the seconds until it is done, and those of processor time."""
        path = self._path if method == "POST" else f"{self._path}/one"
        form = "application/merge-patch+json" if method == "PATCH" else "application/json"
        began, cpu = time.monotonic(), cpu_seconds(self._pid)
        await self._rest.send(method, path, None if body is None else msgspec.json.encode(body), content_type=form)
        while not done(await self._state()):
            if time.monotonic() - began > TIMEOUT_SECONDS:
                sys.exit(f"{method} {body}: {await self._state()}")
            await asyncio.sleep(0.2)
        return time.monotonic() - began, cpu_seconds(self._pid) - cpu

    async def _state(self) -> Document:
        """Return the Deployment's status with its generation; of one that is gone the number of pods that are left."""
        try:
            found = msgspec.json.decode(await self._rest.get(f"{self._path}/one"))
        except Refused:
            body = await self._rest.get("/api/v1/namespaces/default/pods", {"limit": "1"})
            return {"gone": True, "pods": len(msgspec.json.decode(body)["items"])}
        status: Document = {**found.get("status", {}), "generation": found["metadata"]["generation"]}
        return status


def _complete(replicas: int) -> Callable[[Document], bool]:
    """Return whether a Deployment has all its pods, in the newest form, and no others."""

    def done(status: Document) -> bool:
        fields = ("replicas", "updatedReplicas", "availableReplicas")
        seen = status.get("observedGeneration", 0) >= status.get("generation", 1)
        return seen and all(status.get(field, 0) == replicas for field in fields)

    return done


async def one(nodes: int, replicas: int) -> None:
    """Lead one Deployment, with a Service and a budget, through its life, and print what each part took."""
    deployment, *others = a_deployment(0, replicas)
    for document in (deployment, *others):
        document["metadata"] = {**document["metadata"], "name": "one", "namespace": "default"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_nodes(folder, nodes)
        (folder / "others.yaml").write_text(yaml.dump_all(others))
        with Stays(folder) as process:
            rest = process.rest()
            life = One(rest, process.pid)
            image = {"spec": {"template": {"spec": {"containers": [_container(2)]}}}}
            fewer = replicas // 10
            steps: list[tuple[str, str, Document | None, Callable[[Document], bool]]] = [
                ("rollout", "POST", deployment, _complete(replicas)),
                ("new image", "PATCH", image, _complete(replicas)),
                ("to a tenth", "PATCH", {"spec": {"replicas": fewer}}, _complete(fewer)),
                ("and back", "PATCH", {"spec": {"replicas": replicas}}, _complete(replicas)),
                ("deleted", "DELETE", None, lambda state: state.get("pods") == 0),
            ]
            for what, method, body, done in steps:
                seconds, cpu = await life.step(method, body, done)
                spent = f"{seconds:6.1f} s {1000 * cpu / replicas:6.2f} ms a pod"
                print(f"{replicas:6} replicas  {what:10} {spent}", flush=True)
            print(f"{replicas:6} replicas  peak memory {memory_mib(process.pid, 'VmHWM'):.0f} MiB")
            await rest.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--deployments", type=int, default=500)
    parser.add_argument("--replicas", type=int, default=40)
    parser.add_argument("--one", type=int, default=0, metavar="REPLICAS", help="one Deployment through its life")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores ({platform.machine()})", flush=True)
    if options.one:
        for replicas in (options.one // 4, options.one):
            asyncio.run(one(options.nodes, replicas))
    else:
        many(options.nodes, options.deployments, options.replicas)


if __name__ == "__main__":
    main()
