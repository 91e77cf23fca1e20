"""The scheduler that the chart deploys, as a process: it works with the rendered flags, configuration and rights."""

import itertools
import re
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.test_manifests import EVERYTHING, MONITORS, account
from tests.deploy.test_monitoring import EXPRESSIONS, RECORDED, metric_of
from tests.support.api_client import ApiClient, document_of
from tests.support.clusters import a_cluster_process, bound, replace, unschedulable
from tests.support.processes import SchedulerProcess, a_scheduler, eventually
from tests.support.promql import used
from tests.support.rendering import BASES, WHY_NO_HELM, Document, chart, collection_of, kustomize, only, path_of_helm
from tests.support.served_cluster import ServedCluster, a_served_cluster

from kubesched.config.types import LeaderElection
from kubesched.core.assembly import engine_of, load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.doctor.examined_cluster import Right
from kubesched.doctor.rights_checks import FOR_PAGES, needed_rights
from kubesched.testing import a_claim, a_node, a_pod, a_storage_class
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched_controlplane.access.rules import Attributes

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)]

SPACE = "kube-system"
ACCOUNT = f"/api/v1/namespaces/{SPACE}/serviceaccounts"
# what a scheduler asks for on this server, whatever its pods need
ASKED = {
    *(("list", kind) for kind in ("nodes", "pods", "namespaces", "poddisruptionbudgets", "storageclasses")),
    ("create", "pods/binding"),
    ("create", "events"),
    ("patch", "pods/status"),
    ("delete", "pods"),
    ("patch", "persistentvolumeclaims"),
    *(("patch", f"resourceclaims{part}") for part in ("", "/status", "/binding")),
    *((verb, "leases") for verb in ("get", "create", "update")),
    ("get", "configmaps"),
    ("create", "tokenreviews"),
    ("create", "subjectaccessreviews"),
}

# a family without a series is not served: no plugin here lets pods wait
NOT_YET = {"scheduler_permit_wait_duration_seconds"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def apply(api: ApiClient, *documents: Document) -> None:
    """Create objects with strict field validation."""
    for each in documents:
        api.ok("POST", collection_of(each), each, fieldValidation="Strict")


def start(folder: Path, cluster: ServedCluster, api: ApiClient, found: list[Document], port: int) -> Any:
    """Start the container's command as the ServiceAccount, on another port and with the configuration in a file."""
    token = api.ok("POST", f"{ACCOUNT}/kubesched/token", {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    config = yaml.safe_load(only(found, "ConfigMap")["data"]["config.yaml"])
    config["clientConnection"] = {"kubeconfig": cluster.kubeconfig("kubesched", token=token)}
    config["podMaxBackoffSeconds"] = 1
    # in a pod these are found by themselves
    reviews = [f"--{what}-kubeconfig={folder / 'kubesched.kubeconfig'}" for what in ("authentication", "authorization")]
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(config))
    (container,) = only(found, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["kube-scheduler"]
    arguments = [each.replace("/etc/kubesched/config.yaml", str(file)) for each in container["args"]]
    return a_scheduler(
        folder, *arguments, f"--secure-port={port}", "--bind-address=127.0.0.1", *reviews, secrets=[token]
    )


def code_of(port: int, path: str, token: str = "") -> int:
    """Return the code with which a page of the scheduler answers."""
    return page(port, path, token)[0]


def page(port: int, path: str, token: str = "") -> tuple[int, str]:
    """Return the code and the text of a page."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}", headers=headers)
    # a certificate that it made for itself
    trusting = ssl._create_unverified_context()
    try:
        with urllib.request.urlopen(request, timeout=30, context=trusting) as answer:
            return int(answer.status), answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def test_it_schedules_with_these_rights_and_asks_for_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    found = chart(
        *EVERYTHING, "--set", "schedulerName=default-scheduler,allowDefaultScheduler=true,reload=true", home=tmp_path
    )
    nodes = [document_of(a_node(f"n{number}", cpu="2", memory="4Gi")) for number in range(3)]
    with a_served_cluster(tmp_path, *nodes, simulated=True) as cluster:
        asked: list[Attributes] = []
        access: Any = cluster.server.access
        decide = access.decide

        def recorded(user: Any, attributes: Attributes) -> Any:
            if user.name == account().name:
                asked.append(attributes)
            return decide(user, attributes)

        monkeypatch.setattr(access, "decide", recorded)
        api = ApiClient(Path(cluster.kubeconfig()))
        apply(api, MONITORS)
        eventually(lambda: api.ask("GET", "/apis/monitoring.coreos.com/v1/podmonitors")[0] == 200, "the kind is served")
        apply(api, *found, document_of(a_storage_class("late", provisioner="example.com/disks")))
        with start(tmp_path, cluster, api, found, port) as scheduler:
            its_own_pods_get_nodes(api)
            pods_of_all_sorts(api)
            pages(api, port)
            reloads(api, tmp_path / "config.yaml", scheduler)
            scheduler.says("Successfully bound pod to node")
            nothing_was_forbidden(scheduler)
    assert {(each.verb, each.combined) for each in asked} >= ASKED
    assert not unknown_to_the_doctor(asked)
    held = {(each.namespace, each.name) for each in asked if each.resource == "leases" and each.verb == "update"}
    assert held == {(SPACE, "kubesched")}


def its_own_pods_get_nodes(api: ApiClient) -> None:
    """The pods of the Deployment are scheduled, each to a node of its own, and the budget lets one of them go."""

    def places() -> list[str] | None:
        pods = [each for each in api.all("Pod", SPACE) if each["metadata"]["name"].startswith("kubesched-")]
        nodes = sorted(each["spec"].get("nodeName", "") for each in pods)
        return nodes if len(nodes) == 3 and all(nodes) else None

    assert eventually(places, "three replicas have nodes") == ["n0", "n1", "n2"]
    eventually(
        lambda: (api.get("PodDisruptionBudget", "kubesched", SPACE) or {})["status"].get("disruptionsAllowed") == 1,
        "the budget allows one disruption",
    )


def pods_of_all_sorts(api: ApiClient) -> None:
    """One that fits, one that preempts it, one that nothing helps, one with a volume, and one with a device."""
    api.create(a_pod("low", cpu="1500m", node_selector={"kubernetes.io/hostname": "n0"}))
    assert bound(api, "low") == "n0"
    apply(
        api, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
    )
    high = document_of(a_pod("high", cpu="1500m", node_selector={"kubernetes.io/hostname": "n0"}))
    high["spec"]["priorityClassName"] = "high"
    api.create(high)
    assert bound(api, "high") == "n0"
    assert api.get("Pod", "low") is None, "preempted"
    api.create(a_pod("huge", cpu="64"))
    assert "Insufficient cpu" in unschedulable(api, "huge")
    api.create(
        {**document_of(a_claim("disk", storage_class="late")), "metadata": {"name": "disk", "namespace": "default"}}
    )
    stored = document_of(a_pod("stored"))
    stored["spec"]["volumes"] = [{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
    api.create(stored)
    bound(api, "stored")
    gpu = a_resource_claim("gpu", a_device_request())
    devices = (a_device_class(), a_slice("slice", "d1", node="n1"), gpu, a_claiming_pod("computes", "gpu"))
    for each in devices:
        api.create(each)
    assert bound(api, "computes") == "n1"


def pages(api: ApiClient, port: int) -> None:
    """Health is for all, metrics are for the account of the PodMonitor."""
    reader = api.ok("POST", f"{ACCOUNT}/kubesched-metrics/token", {"spec": {}})["status"]["token"]
    other = api.ok("POST", f"{ACCOUNT}/default/token", {"spec": {}})["status"]["token"]
    assert code_of(port, "/livez") == code_of(port, "/readyz") == 200
    numbers = itertools.count()

    def plugins_were_timed() -> bool:
        api.create(a_pod(f"one-more-{next(numbers)}"))
        return "scheduler_plugin_execution_duration_seconds" in page(port, "/metrics", reader)[1]

    # in a tenth of the cycles, which are drawn
    eventually(plugins_were_timed, "a cycle in which plugins are timed")
    scraped = "".join(page(port, path, reader)[1] for path in ("/metrics", "/metrics/slis"))
    families = set(re.findall(r"^# TYPE (\w+) ", scraped, re.MULTILINE))
    series = {name for text in EXPRESSIONS.values() for name in used(text).metrics if name not in RECORDED}
    assert {metric_of(name).name for name in series} - families <= NOT_YET
    assert code_of(port, "/configz", reader) == 403
    assert code_of(port, "/metrics", other) == 403
    assert code_of(port, "/metrics") in (401, 403)


def reloads(api: ApiClient, file: Path, scheduler: SchedulerProcess) -> None:
    """A changed file is told of by events on the Lease, which `kubectl describe lease` shows."""
    good = file.read_text()
    lease = api.get("Lease", "kubesched", SPACE) or {}

    def event(reason: str) -> Document | None:
        found = api.all("Event", SPACE)
        return next((each for each in found if each.get("reason") == reason), None)

    replace(file, "profiles: [")
    scheduler.says("Configuration refused")
    refused = eventually(lambda: event("ConfigurationRefused"), "the event of the refusal")
    assert refused["type"] == "Warning"
    about = refused.get("involvedObject") or refused["regarding"]
    assert (about["kind"], about["name"], about["uid"]) == ("Lease", "kubesched", lease["metadata"]["uid"])
    assert "config.yaml" in (refused.get("message") or refused["note"])
    replace(file, good + "percentageOfNodesToScore: 50\n")
    scheduler.says("Configuration reloaded")
    eventually(lambda: event("ConfigurationReloaded"), "the event of the reload")


def unknown_to_the_doctor(asked: list[Attributes]) -> set[Right]:
    """Return what the scheduler asked for that `kubesched doctor` does not ask about."""
    loaded = load_config(None)
    election = LeaderElection(resource_name="kubesched", resource_namespace=SPACE)
    known = {*needed_rights(engine_of(loaded, Registry()).profiles, loaded.gates, election), *FOR_PAGES}
    rights = {Right(each.verb, each.group, each.combined) for each in asked if each.resource}
    return rights - {right._replace(namespace="", name="") for right in known}


def nothing_was_forbidden(scheduler: SchedulerProcess) -> None:
    log = scheduler.log.lower()
    assert "forbidden" not in log, scheduler.lines("orbidden")
    assert " cannot " not in log, scheduler.lines(" cannot ")


def test_the_static_pod_schedules_with_the_kubeconfig_of_the_clusters_scheduler(tmp_path: Path) -> None:
    (container,) = only(kustomize(BASES / "replacement"), "Pod")["spec"]["containers"]
    program, *arguments = container["command"]
    assert program == "kube-scheduler"
    port = free_port()
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        flags = [each.replace("/etc/kubernetes/scheduler.conf", str(cluster.kubeconfig)) for each in arguments]
        with a_scheduler(tmp_path, *flags, f"--secure-port={port}", secrets=cluster.secrets) as scheduler:
            assert bound(cluster.api, "p") == "n"
            assert code_of(port, "/livez") == code_of(port, "/readyz") == 200
            lease = cluster.api.get("Lease", "kube-scheduler", SPACE) or {}
            assert lease["spec"]["holderIdentity"], "it stands for the Lease that kube-scheduler holds"
            nothing_was_forbidden(scheduler)
