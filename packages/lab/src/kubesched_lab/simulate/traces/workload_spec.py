"""Generated traces: nodes, kinds of pods that arrive at random, and nodes that fail, from a short YAML.

    apiVersion: simulate.kubesched.io/v1alpha1
    kind: Workload
    until: 1h
    nodes:
    - {name: large, count: 100, cpu: 32, memory: 128Gi, zones: 3}
    pods:
    - name: batch
      arrivals: {rate: 2}              # a second, at random (Poisson)
      runs: {exponential: 10m}
      cpu: {choice: {"1": 3, "4": 1}}
      memory: 2Gi
    failures:
    - {nodes: large, between: {exponential: 30d}, lasts: 1h}

From a document to a trace that depends only on its seed: each kind of pods has a separate random generator, so that a
change of one kind does not affect the rest.
"""

import heapq
from collections.abc import Iterator, Mapping
from itertools import count, repeat
from math import pi, sin
from random import Random
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod, PodSchedulingGroup
from kubesched.api.scheduling import GangSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.admission import TraceAdmission, renamed
from kubesched_lab.simulate.traces.distributions import (
    MEBIBYTE,
    Draw,
    Unit,
    distribution,
    milli_cpu,
    milliseconds,
    whole,
)
from kubesched_lab.simulate.traces.pod_template import admitted_pod, with_priority, with_requests
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

API_VERSION, KIND = "simulate.kubesched.io/v1alpha1", "Workload"
ZONE = "topology.kubernetes.io/zone"
# limit of the nodes of a pool, and of pods that arrive at once
MOST_AT_ONCE = 1_000_000
# limit of pods of a kind a second: times have milliseconds
MOST_RATE = 1000
replace = msgspec.structs.replace


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A part of the document; unknown fields are errors."""


class NodesSpec(_Strict, frozen=True):
    """Equal nodes, spread over zones."""

    name: str
    count: int
    cpu: str | int = "8"
    memory: str | int = "32Gi"
    pods: int = 110
    zones: int = 0
    resources: dict[str, str | int] = {}
    labels: dict[str, str] = {}
    taints: list[dict[str, Any]] = []


class DiurnalSpec(_Strict, frozen=True):
    """A rate that rises and falls: `low` is its lowest share of the highest rate."""

    low: float = 0.2
    period: str | float = "24h"


class BurstSpec(_Strict, frozen=True):
    """A number of pods at once, at regular intervals."""

    every: Any
    pods: int


class ArrivalsSpec(_Strict, frozen=True):
    """Arrivals of pods: at random with a rate a second, at regular intervals, or once; and in bursts."""

    rate: float = 0.0
    every: Any = None
    at: Any = None
    count: int = 1
    diurnal: DiurnalSpec | None = None
    bursts: BurstSpec | None = None


class GangSpec(_Strict, frozen=True):
    """Pods that are scheduled together or not at all: their number, and how many must fit, by default all."""

    pods: Any
    at_least: int | None = None


class PodsSpec(_Strict, frozen=True):
    """A kind of pods; with `gang`, equal pods arrive together in a new PodGroup."""

    name: str
    arrivals: ArrivalsSpec
    runs: Any = None
    cpu: Any = None
    memory: Any = None
    resources: dict[str, Any] = {}
    priority: int | None = None
    gang: GangSpec | None = None
    namespace: str = "default"
    template: dict[str, Any] = {}


class FailuresSpec(_Strict, frozen=True):
    """Nodes that fail one after the other, and recover."""

    nodes: str
    between: Any
    lasts: Any


class WorkloadSpec(_Strict, frozen=True):
    """A generated trace."""

    api_version: str
    kind: str
    until: Any
    nodes: list[NodesSpec] = []
    pods: list[PodsSpec] = []
    failures: list[FailuresSpec] = []
    objects: list[dict[str, Any]] = []


def is_workload(document: Any) -> bool:
    """Return whether a document is a generated trace."""
    return (
        isinstance(document, Mapping)
        and document.get("kind") == KIND
        and str(document.get("apiVersion", "")).startswith("simulate.")
    )


def trace_of_workload(name: str, document: Any) -> Trace:
    """Return the trace that a document describes; raises TraceError."""
    try:
        spec = msgspec.convert(document, WorkloadSpec)
    except msgspec.ValidationError as error:
        raise TraceError(f"{name}: {error}") from None
    if spec.api_version != API_VERSION:
        raise TraceError(f"{name}: apiVersion is {spec.api_version}; expected {API_VERSION}")
    made = _Workload(name, spec)
    return Trace(name, made.events)


class _Source:
    """A kind of pods: its template, and the random values of each pod."""

    def __init__(self, spec: PodsSpec, admission: TraceAdmission, where: str) -> None:
        self.spec = spec
        self.where = where
        self.runs: Draw | None = None
        if spec.runs is not None:
            self.runs = distribution(spec.runs, milliseconds, f"{where}.runs")
        self._draws: dict[str, Draw] = {}
        if spec.cpu is not None:
            self._draws["cpu"] = distribution(spec.cpu, milli_cpu, f"{where}.cpu")
        if spec.memory is not None:
            self._draws["memory"] = distribution(spec.memory, whole, f"{where}.memory", MEBIBYTE)
        for resource, value in spec.resources.items():
            self._draws[resource] = distribution(value, whole, f"{where}.resources.{resource}")
        self._gang: Draw | None = None
        if spec.gang is not None:
            self._gang = distribution(spec.gang.pods, _at_once(f"{where}.gang.pods"), f"{where}.gang.pods")
            if spec.gang.at_least is not None and spec.gang.at_least < 1:
                raise TraceError(f"{where}.gang.atLeast is {spec.gang.at_least}; expected 1 or more")
        self._template = self._admitted(admission)
        # pods of equal sizes share a specification
        self._sized: dict[tuple[int, ...], Pod] = {}

    def _admitted(self, admission: TraceAdmission) -> Pod:
        named = {"name": self.spec.name, "namespace": self.spec.namespace}
        template = {**self.spec.template}
        template["metadata"] = {"labels": {"app": self.spec.name}, **(template.get("metadata") or {})}
        pod = admitted_pod(template, named, admission, f"{self.where}.template")
        return pod if self.spec.priority is None else with_priority(pod, self.spec.priority)

    def arrivals(self, at: float, number: int, random: Random) -> Iterator[TraceEvent]:
        """Yield the arrival of the next pod, or of the next gang and its group."""
        amounts = tuple(draw(random) for draw in self._draws.values())
        pod = self._sized.get(amounts)
        if pod is None:
            pod = self._with(amounts)
            if len(self._sized) < 10_000:
                self._sized[amounts] = pod
        runs = None if self.runs is None else self.runs(random) / 1000
        name = f"{self.spec.name}-{number}"
        if self._gang is None or self.spec.gang is None:
            yield PodArrival(at, renamed(pod, name), runs)
            return
        # some distributions have no largest value
        size = min(self._gang(random), MOST_AT_ONCE)
        yield ObjectPut(at, _pod_group(self.spec.namespace, name, min(size, self.spec.gang.at_least or size)))
        member = replace(pod, spec=replace(pod.spec, scheduling_group=PodSchedulingGroup(name)))
        for index in range(size):
            yield PodArrival(at, renamed(member, f"{name}-{index}"), runs)

    def _with(self, amounts: tuple[int, ...]) -> Pod:
        """Return the template with requests in its first container."""
        return with_requests(self._template, dict(zip(self._draws, amounts, strict=True)))


class _Workload:
    """A generated trace, checked."""

    def __init__(self, name: str, spec: WorkloadSpec) -> None:
        self._name = name
        self._spec = spec
        self._admission = TraceAdmission()
        self._until = _read(spec.until, f"{name}: until") / 1000
        self._objects = [
            self._admission.admit(document, f"{name}: objects[{i}]") for i, document in enumerate(spec.objects)
        ]
        self._nodes = {each.name: list(self._made(each, i)) for i, each in enumerate(spec.nodes)}
        self._sources = [_Source(each, self._admission, f"{name}: pods[{i}]") for i, each in enumerate(spec.pods)]
        for i, failing in enumerate(spec.failures):
            if failing.nodes not in self._nodes:
                raise TraceError(f"{name}: failures[{i}].nodes: there are no nodes named {failing.nodes!r}")
            distribution(failing.between, milliseconds, f"{name}: failures[{i}].between")
            distribution(failing.lasts, milliseconds, f"{name}: failures[{i}].lasts")
        for source in self._sources:
            list(zip(self._times(source, Random(0)), range(1), strict=False))

    def _made(self, spec: NodesSpec, index: int) -> Iterator[ApiObject]:
        where = f"{self._name}: nodes[{index}]"
        _check(spec.count, f"{where}.count", 1)
        room = {"cpu": str(spec.cpu), "memory": str(spec.memory), "pods": str(spec.pods)}
        room |= {name: str(amount) for name, amount in spec.resources.items()}
        document = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": spec.name, "labels": {"kubesched.io/pool": spec.name, **spec.labels}},
            "spec": {"taints": spec.taints},
            "status": {"capacity": room},
        }
        model = self._admission.admit(document, where)
        for number in range(spec.count):
            node = renamed(model, f"{spec.name}-{number}")
            if spec.zones:
                labels = {**node.metadata.labels, ZONE: f"zone-{number % spec.zones}"}
                node = replace(node, metadata=replace(node.metadata, labels=labels))
            yield node

    def events(self, seed: int) -> Iterator[TraceEvent]:
        """Yield all events up to the end."""
        for obj in self._objects:
            yield ObjectPut(0.0, obj)
        for nodes in self._nodes.values():
            for node in nodes:
                yield ObjectPut(0.0, node)
        streams = [self._arrivals(source, Random(f"{seed} pods {source.spec.name}")) for source in self._sources]
        streams += [self._failures(each, Random(f"{seed} failures {i}")) for i, each in enumerate(self._spec.failures)]
        yield from heapq.merge(*streams, key=lambda event: event.at)

    def _arrivals(self, source: _Source, random: Random) -> Iterator[TraceEvent]:
        for number, at in enumerate(self._times(source, random)):
            yield from source.arrivals(at, number, random)

    def _times(self, source: _Source, random: Random) -> Iterator[float]:
        """Yield the arrival times of a kind of pods, in order."""
        arrivals, where = source.spec.arrivals, f"{source.where}.arrivals"
        if sum((arrivals.rate > 0, arrivals.every is not None, arrivals.at is not None)) != 1 and not arrivals.bursts:
            raise TraceError(f"{where}: expected one of rate, every, at; or bursts")
        streams: list[Iterator[float]] = []
        _check(arrivals.rate, f"{where}.rate", 0, MOST_RATE)
        if arrivals.rate > 0:
            streams.append(self._at_random(arrivals, random, where))
        if arrivals.every is not None:
            step = max(1, _read(arrivals.every, f"{where}.every"))
            streams.append(number * step / 1000 for number in count())
        if arrivals.at is not None:
            at = _read(arrivals.at, f"{where}.at") / 1000
            _check(arrivals.count, f"{where}.count")
            streams.append(repeat(at, arrivals.count))
        if arrivals.bursts is not None:
            every = max(1, _read(arrivals.bursts.every, f"{where}.bursts.every"))
            pods = arrivals.bursts.pods
            _check(pods, f"{where}.bursts.pods")
            streams.append(number * every / 1000 for number in count(1) for _ in range(pods))
        for at in heapq.merge(*streams):
            if at > self._until:
                return
            yield at

    def _at_random(self, arrivals: ArrivalsSpec, random: Random, where: str) -> Iterator[float]:
        """Yield the times of a Poisson process, thinned where the rate is lower."""
        diurnal, at = arrivals.diurnal, 0.0
        period = _read(diurnal.period, f"{where}.diurnal.period") / 1000 if diurnal else 0.0
        while True:
            at = round(at + random.expovariate(arrivals.rate), 3)
            if diurnal is None or random.random() < _level(diurnal, at / period):
                yield at

    def _failures(self, spec: FailuresSpec, random: Random) -> Iterator[TraceEvent]:
        """Yield the failures of nodes of a pool, and their recoveries."""
        between = distribution(spec.between, milliseconds, "between")
        lasts = distribution(spec.lasts, milliseconds, "lasts")
        nodes, at = self._nodes[spec.nodes], 0.0
        returns: list[tuple[float, int]] = []
        while True:
            at += max(1, between(random)) / 1000
            while returns and returns[0][0] <= min(at, self._until):
                back, number = heapq.heappop(returns)
                yield ObjectPut(back, nodes[number])
            if at > self._until:
                return
            number = random.randrange(len(nodes))
            if all(number != other for _, other in returns):
                heapq.heappush(returns, (at + lasts(random) / 1000, number))
                yield ObjectDeletion(at, "Node", nodes[number].name)


def _pod_group(namespace: str, name: str, least: int) -> PodGroup:
    """Return the group of a gang; `least` of its pods must fit."""
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(least))
    return PodGroup(metadata=ObjectMeta(name=name, namespace=namespace), spec=PodGroupSpec(scheduling_policy=policy))


def _level(diurnal: DiurnalSpec, periods: float) -> float:
    """Return the share of the highest rate at a time; it is lowest at the beginning of a period."""
    return diurnal.low + (1 - diurnal.low) * (1 - sin(2 * pi * (periods + 0.25))) / 2


def _check(number: float, where: str, least: int = 0, most: int = MOST_AT_ONCE) -> None:
    """Raise TraceError for a number that is out of bounds."""
    if not least <= number <= most:
        raise TraceError(f"{where} is {number}; expected a number from {least} to {most}")


def _at_once(where: str) -> Unit:
    """Return the parser for numbers of pods that arrive at once."""

    def read(value: Any) -> int:
        number = whole(value)
        _check(number, where)
        return number

    return read


def _read(value: Any, where: str) -> int:
    return distribution(value, milliseconds, where)(Random(0))
