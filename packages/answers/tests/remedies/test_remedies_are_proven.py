"""Remedies of random clusters: applied, the pod is schedulable on the named node; without any one change it is not.

Whoever applies a remedy has documents with more fields than our structs: so do these.
"""

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.support.remedy_proofs import Document, best_nodes, check, model_of

from kubesched.api.codec import decode, to_builtins
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod
from kubesched.api.scheduling import PriorityClass
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.testing import (
    a_budget,
    a_claim,
    a_container,
    a_node,
    a_pod,
    a_service,
    a_spread,
    a_storage_class,
    a_volume,
    an_affinity,
)
from kubesched_answers.remedies.search import MOST_REMEDIES, find_remedies

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: disk, operator: In, values: [ssd, hdd]}]
          - matchExpressions: [{key: pool, operator: DoesNotExist}, {key: size, operator: Gt, values: ["4"]}]
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
      - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}
"""
FEATURES = FeatureGates({"NodeDeclaredFeatures": True, "UserNamespacesHostNetworkSupport": True})
LOADED = load_config(), load_config(CONFIG), load_config(None, FEATURES)
APPS = st.sampled_from(["web", "db", "job"])
ZONES = st.sampled_from(["a", "b"])
CPUS = st.sampled_from([None, "100m", "1", "1500m", "3", "6"])
MEMORIES = st.sampled_from([None, "1Gi", "3Gi", "9Gi"])
PORTS = st.lists(st.sampled_from([80, 8080]), max_size=1)
TAINTS = st.lists(
    st.sampled_from(["gpu=true:NoSchedule", "old:NoExecute", "node.kubernetes.io/not-ready:NoSchedule"]),
    max_size=2,
    unique=True,
)
SCOPES = ["pod", "cluster", "others"]


@st.composite
def nodes(draw: st.DrawFn, name: str) -> ApiObject:
    return a_node(
        name,
        cpu=draw(st.sampled_from(["1", "2", "4"])),
        memory=draw(st.sampled_from(["2Gi", "8Gi"])),
        pods=draw(st.sampled_from([2, 110])),
        zone=draw(ZONES),
        labels=draw(st.dictionaries(st.just("disk"), st.sampled_from(["ssd", "hdd"]))),
        taints=draw(TAINTS),
        unschedulable=draw(st.integers(0, 4)) == 0,
    )


@st.composite
def affinities(draw: st.DrawFn) -> Any:
    selector = f"app={draw(APPS)}@{draw(st.sampled_from(['zone', 'hostname']))}"
    words: dict[str, Any] = {draw(st.sampled_from(["near", "apart"])): selector}
    if draw(st.booleans()):
        words["nodes"] = draw(st.sampled_from(["disk=ssd", "!disk", "disk in (nvme)", "disk=ssd,gpu", "size>4"]))
    return an_affinity(**words)


@st.composite
def placed_pods(draw: st.DrawFn, name: str, node_count: int, taken: set[tuple[str, int]]) -> ApiObject:
    """Draw a pod on a node; host ports that pods there have are `taken`."""
    node = f"n{draw(st.integers(1, node_count))}"
    ports = [port for port in draw(PORTS) if (node, port) not in taken]
    taken.update((node, port) for port in ports)
    return a_pod(
        name,
        node=node,
        labels={"app": draw(APPS)},
        cpu=draw(CPUS),
        memory=draw(MEMORIES),
        ports=ports,
        priority=draw(st.sampled_from([0, 100])),
        affinity=an_affinity(apart=f"app={draw(APPS)}@hostname") if draw(st.integers(0, 4)) == 0 else None,
        owner=draw(st.sampled_from([None, "ReplicaSet/web", "DaemonSet/agent"])),
    )


@st.composite
def pending_pods(draw: st.DrawFn) -> Pod:
    several = draw(st.booleans())
    limits = {"cpu": "3", "memory": "3Gi"} if draw(st.booleans()) else None
    containers = [
        a_container(f"c{i}", cpu=draw(CPUS), memory=draw(MEMORIES), limits=limits) for i in range(1 + several)
    ]
    if draw(st.booleans()):
        containers.append(a_container("ports", ports=draw(PORTS)))
    own_users = draw(st.integers(0, 5)) == 0
    setup = a_container("setup", cpu=draw(CPUS), sidecar=draw(st.booleans()))
    return a_pod(
        "asked",
        labels={"app": draw(APPS)},
        containers=containers,
        init_containers=(setup,) if draw(st.booleans()) else (),
        gates=["wait"] if draw(st.integers(0, 5)) == 0 else [],
        node_selector=draw(st.sampled_from([None, {"disk": "ssd"}, {"disk": "nvme", "gpu": "yes"}])),
        tolerations=draw(st.sampled_from([[], ["gpu=true:NoSchedule"]])),
        affinity=draw(st.none() | affinities()),
        spread=[a_spread("zone", f"app={draw(APPS)}")] if draw(st.booleans()) else [],
        volumes=draw(st.sampled_from([[], [], ["data"], ["bound"], ["missing"]])),
        scheduler=draw(st.sampled_from(["default-scheduler"] * 5 + ["other"])),
        host_network=own_users,
        host_users=False if own_users else None,
    )


@st.composite
def clusters(draw: st.DrawFn) -> list[ApiObject]:
    count = draw(st.integers(1, 4))
    objects: list[ApiObject] = [draw(nodes(f"n{number + 1}")) for number in range(count)]
    taken: set[tuple[str, int]] = set()
    objects += [draw(placed_pods(f"p{number}", count, taken)) for number in range(draw(st.integers(0, 6)))]
    objects += [a_budget("budget", f"app={draw(APPS)}", allowed=draw(st.integers(0, 1)))]
    objects += [a_storage_class("local"), a_claim("data", storage_class="local")]
    zone = f"topology.kubernetes.io/zone={draw(ZONES)}"
    objects += [a_claim("bound", bound_to="pv"), a_volume("pv", nodes=zone, claimed_by="default/bound")]
    objects += [PriorityClass(metadata=ObjectMeta(name=f"p{value}"), value=value) for value in (50, 200)]
    return [*objects, a_service("service", {"app": draw(APPS)})]


def with_more_fields(document: Document) -> Document:
    """Return a document with fields that our structs leave out."""
    more = copy.deepcopy(dict(document))
    spec = more.setdefault("spec", {})
    more["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    for container in spec.get("containers", ()):
        container["env"] = [{"name": "A", "value": "b"}]
        container["volumeMounts"] = [{"name": volume["name"], "mountPath": "/x"} for volume in spec.get("volumes", ())]
    for volume in spec.get("volumes", ()):
        volume.setdefault("persistentVolumeClaim", {}).setdefault("readOnly", False)
    if more["kind"] == "Node":
        more.setdefault("status", {})["nodeInfo"] = {"kubeletVersion": "v1.36.0"}
    return more


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(clusters(), pending_pods(), st.booleans(), st.sampled_from(LOADED))
def test_remedies_are_sound_and_minimal(objects: list[ApiObject], pod: Pod, in_cluster: bool, loaded: Loaded) -> None:
    documents = [with_more_fields(to_builtins(obj)) for obj in (*objects, pod)]
    model = model_of(documents if in_cluster else documents[:-1], loaded)
    before = to_documents(model.source.objects)
    asked = decode(documents[-1])
    assert isinstance(asked, Pod)
    remedies = find_remedies(model, model.read(asked))
    if best_nodes(documents, loaded, pod.full_name):
        assert remedies == ()
    event(f"{len(remedies)} remedies, by preemption {any(remedy.preempts for remedy in remedies)}")
    assert len(remedies) <= MOST_REMEDIES
    for remedy in remedies:
        assert remedy.scope in SCOPES
        check(documents, loaded, pod.full_name, remedy)
    assert to_documents(model.source.objects) == before
    # the model is as before, so the answer is
    assert find_remedies(model, model.read(asked)) == remedies


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from(["1", "2", "4"]), st.sampled_from([0, 100, 300])), min_size=3
    ),
    st.sampled_from(["2", "4"]),
    st.integers(0, 1),
    st.booleans(),
)
def test_remedies_by_preemption_have_the_victims_that_they_name(
    placed: list[tuple[int, str, int]], cpu: str, allowed: int, in_cluster: bool
) -> None:
    objects: list[ApiObject] = [a_node(f"n{number}", cpu="4") for number in (1, 2, 3)]
    objects += [
        a_pod(f"p{number}", node=f"n{node}", cpu=used, priority=priority, labels={"app": "web"})
        for number, (node, used, priority) in enumerate(placed)
    ]
    objects += [a_budget("budget", "app=web", allowed=allowed)]
    objects += [PriorityClass(metadata=ObjectMeta(name=f"p{value}"), value=value) for value in (50, 200)]
    pod = a_pod("asked", cpu=cpu, priority=0)
    documents = [to_builtins(obj) for obj in (*objects, pod)]
    model = model_of(documents if in_cluster else documents[:-1], LOADED[0])
    remedies = find_remedies(model, model.read(pod))
    for remedy in remedies:
        event(f"by preemption {bool(remedy.preempts)}")
        check(documents, LOADED[0], pod.full_name, remedy)
    assert to_documents(model.source.objects) == documents[: len(model.source.objects)]
    # the model is as before, so the answer is
    assert find_remedies(model, model.read(pod)) == remedies


def to_documents(objects: tuple[ApiObject, ...]) -> list[Document]:
    return [to_builtins(obj) for obj in objects]
