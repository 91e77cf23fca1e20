"""Anonymised recordings: no name survives, and pods go where they would have gone."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from tests.support.roles import create

from kubesched.common.virtual_time import BEGINNING, START, run_in_virtual_time
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.running import new_server
from kubesched_controlplane.simulation import Simulation
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.local_rest import LocalRest
from kubesched_lab.record.line_encoder import PLAIN, LineEncoder, anonymising_encoder
from kubesched_lab.record.recording_file import RecordingFile
from kubesched_lab.record.session import RecordingSession
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import PodArrival
from kubesched_lab.simulate.traces.trace_file import trace_of_file

Document = dict[str, Any]
NAME = "acme"
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def an_object(kind: str, name: str, *, version: str = "v1", namespace: str = "", **fields: Any) -> Document:
    meta = {"name": f"{NAME}-{name}", "annotations": {"note": f"{NAME} said so"}, **fields.pop("metadata", {})}
    if namespace:
        meta["namespace"] = f"{NAME}-{namespace}"
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def a_node(number: int) -> Document:
    labels = {
        ZONE: f"{NAME}-zone-{number % 3}",
        HOST: f"{NAME}-node-{number}",
        "disk": f"{NAME}-{'fast' if number % 2 else 'slow'}",
        "generation": str(number),
        "kubernetes.io/os": "linux",
    }
    taints = [{"key": "team", "value": f"{NAME}-blue", "effect": "NoSchedule"}] if number == 7 else []
    images = [{"names": [f"registry.{NAME}.com/web:1"], "sizeBytes": 500_000_000}] if number == 4 else []
    return an_object(
        "Node",
        f"node-{number}",
        metadata={"labels": labels},
        spec={"taints": taints, "providerID": f"cloud://{NAME}/{number}"},
        status={
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "20"},
            "images": images,
            "addresses": [{"type": "Hostname", "address": f"{NAME}-node-{number}"}],
        },
    )


def a_pod(name: str, app: str, cpu: str = "500m", **spec: Any) -> Document:
    container = {
        "name": f"{NAME}-main",
        "image": f"registry.{NAME}.com/web:1",
        "command": [f"/bin/{NAME}"],
        "env": [{"name": "TOKEN", "value": f"{NAME}-secret"}],
        "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}},
    }
    labels = {"app": f"{NAME}-{app}"}
    return an_object(
        "Pod", name, namespace="shop", metadata={"labels": labels}, spec={"containers": [container], **spec}
    )


SELECTOR = {"matchLabels": {"app": f"{NAME}-spread"}}
SPREAD = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": f"{NAME}-apart"}}, "topologyKey": HOST}
        ]
    }
}


def on_nodes(*requirements: Document) -> Document:
    terms = [{"matchExpressions": list(requirements)}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


FAST = on_nodes({"key": "disk", "operator": "In", "values": [f"{NAME}-fast"]})
# the first to compare the label, when nodes are recorded already
NEW = on_nodes({"key": "generation", "operator": "Gt", "values": ["6"]})
FOURTH = on_nodes({"key": "generation", "operator": "In", "values": ["4"]})
TOLERANT = [{"key": "team", "value": f"{NAME}-blue", "effect": "NoSchedule"}]
CLAIM = {"name": f"{NAME}-data", "persistentVolumeClaim": {"claimName": f"{NAME}-data"}}
VOLUME = an_object(
    "PersistentVolume",
    "volume",
    spec={
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "disk.csi.example.com", "volumeHandle": f"{NAME}-handle", "volumeAttributes": {"a": NAME}},
        "storageClassName": f"{NAME}-class",
        "claimRef": {"namespace": f"{NAME}-shop", "name": f"{NAME}-data"},
        "nodeAffinity": {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [f"{NAME}-zone-2"]}]}
                ]
            }
        },
    },
)
INITIAL = [
    an_object("Namespace", "shop"),
    an_object("PriorityClass", "high", version="scheduling.k8s.io/v1", value=1000, description=NAME),
    an_object(
        "StorageClass",
        "class",
        version="storage.k8s.io/v1",
        provisioner="disk.csi.example.com",
        parameters={"owner": NAME},
        volumeBindingMode="Immediate",
    ),
    VOLUME,
    an_object(
        "PersistentVolumeClaim",
        "data",
        namespace="shop",
        spec={
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": f"{NAME}-class",
            "volumeName": f"{NAME}-volume",
        },
    ),
    an_object(
        "PodDisruptionBudget",
        "budget",
        version="policy/v1",
        namespace="shop",
        spec={"minAvailable": 1, "selector": SELECTOR},
    ),
    *(a_node(number) for number in range(1, 10)),
    a_pod("old", "spread", nodeName=f"{NAME}-node-1"),
]
ARRIVING = [
    *(a_pod(f"spread-{number}", "spread", topologySpreadConstraints=[SPREAD]) for number in range(5)),
    *(a_pod(f"apart-{number}", "apart", affinity=APART) for number in range(4)),
    a_pod("fast", "fast", affinity=FAST),
    a_pod("with-data", "data", volumes=[CLAIM]),
    a_pod("tolerant", "t", cpu="3", tolerations=TOLERANT, nodeSelector={HOST: f"{NAME}-node-7"}),
    a_pod("fourth", "f", affinity=FOURTH),
    a_pod("new", "n", affinity=NEW),
    a_pod("fourth-again", "f", affinity=FOURTH),
    *(a_pod(f"large-{number}", "large", cpu="3", priorityClassName=f"{NAME}-high") for number in range(9)),
]


def record_both(folder: Path) -> tuple[Path, Path]:
    """Record the same story twice at once: as it is, and anonymised."""
    server = new_server({}, seed=1)
    create(server, *INITIAL)
    client = LocalClient(server, ADMINISTRATOR)
    plain, hidden = folder / "plain.jsonl", folder / "hidden.jsonl"

    async def run() -> None:
        loop = asyncio.get_running_loop()
        transport = Transport(server)
        transport.start()
        # nodes become ready
        simulation = Simulation(server, Options(workloads=False))
        simulation.start()
        await asyncio.sleep(1)

        def session(path: Path, encoder: LineEncoder) -> RecordingSession:
            return RecordingSession(
                LocalRest(transport, ADMINISTRATOR),
                RecordingFile(path),
                encoder=encoder,
                date=lambda: BEGINNING + timedelta(seconds=loop.time() - START),
            )

        sessions = [session(plain, PLAIN), session(hidden, anonymising_encoder())]
        tasks = [asyncio.create_task(each.run()) for each in sessions]
        await asyncio.sleep(1)
        pods = client.resource("v1", "Pod")
        for document in ARRIVING:
            client.create(pods, document)
            await asyncio.sleep(1)
        client.delete(pods, f"{NAME}-shop", f"{NAME}-apart-0", {"gracePeriodSeconds": 0})
        client.delete(client.resource("v1", "Node"), "", f"{NAME}-node-9")
        await asyncio.sleep(1)
        for each in sessions:
            each.stop.set()
        await asyncio.gather(*tasks)
        simulation.stop()
        transport.stop()

    run_in_virtual_time(run())
    return plain, hidden


def placements(path: Path) -> list[tuple[str, str]]:
    """Return where pods go in a simulation, in the order of the recording."""
    log = PodLog()
    trace = trace_of_file(path)
    simulate(Run(trace, load_config(), Registry()), pod_log=log)
    nodes = {each.name: each.node for each in log.records}
    arrivals = (event.pod.name for event in trace.events(0) if isinstance(event, PodArrival))
    return [(name, nodes[name]) for name in arrivals]


def test_no_name_survives_and_pods_go_where_they_went(tmp_path: Path) -> None:
    plain, hidden = record_both(tmp_path)
    assert NAME in plain.read_text()
    assert "-secret" not in plain.read_text()
    assert "said so" not in plain.read_text()
    assert NAME not in hidden.read_text()
    before, after = placements(plain), placements(hidden)
    assert sum(1 for _, node in before if node) > 20
    # the same node up to the names, and the names up to the order of their first use
    code_of = dict(zip((name for name, _ in before), (name for name, _ in after), strict=True))
    assert len(code_of) == len(ARRIVING) + 1
    nodes = dict(zip((node for _, node in before), (node for _, node in after), strict=True))
    assert [nodes[node] for _, node in before] == [node for _, node in after]
    assert len(set(nodes.values())) == len(nodes)


def test_the_same_key_gives_the_same_codes_and_another_gives_others(tmp_path: Path) -> None:
    line = {"at": 1, "bound": f"default/{NAME}", "node": f"{NAME}-node"}
    first, second, third = (anonymising_encoder(key).encode(line) for key in (b"a", b"a", b"b"))
    assert first == second != third
    # what every cluster has is no secret
    assert msgspec.json.decode(first)["bound"].startswith("default/")
