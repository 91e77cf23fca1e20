"""Traces of SimKube (`.sktrace`): objects that were applied and deleted, and the run times of their pods.

From msgpack (or the same as JSON) to events. A trace has workloads rather than pods; this module creates their pods:

    {version: 2, config: {trackedObjects: {GVK: {podSpecTemplatePaths: [...]}}},
     events: [{ts, applied_objs, deleted_objs}], index: {...},
     pod_lifecycles: {(GVK, "namespace/name"): {HASH: [{Finished: [START, END]}, {Running: START}, ...]}}}

Deployments, ReplicaSets and StatefulSets have as many pods as replicas; a changed template replaces them all. Pods of
Jobs, CronJobs and other kinds with recorded lives arrive and end at the recorded times. Nodes come from another file.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kubesched.api.kinds import KINDS
from kubesched.api.meta import LabelSelector, ObjectMeta
from kubesched.api.owners import ReplicaSet, ReplicaSetSpec
from kubesched.api.pods import Pod
from kubesched.common.notes import Note
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.admission import TraceAdmission, renamed
from kubesched_lab.simulate.traces.opening import decoded, whole_trace
from kubesched_lab.simulate.traces.pod_template import admitted_pod
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

Document = dict[str, Any]
VERSION = 2
_TEMPLATE_PATHS = {"CronJob": "/spec/jobTemplate/spec/template"}
_SCALED = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"})
# kinds whose number of pods is not in the trace
_UNCOUNTED = frozenset({"DaemonSet", "CronJob"})
_MOST_PODS = 1_000_000


class SimkubeEvent(msgspec.Struct):
    """The objects that were applied and deleted at a time."""

    ts: int
    applied_objs: list[Document] = []
    deleted_objs: list[Document] = []


class TrackedKind(msgspec.Struct, rename="camel"):
    """The paths of the pod templates of a kind."""

    pod_spec_template_paths: list[str] | None = None


class SimkubeConfig(msgspec.Struct, rename="camel"):
    """The tracer's configuration."""

    tracked_objects: dict[str, TrackedKind | None] = {}


class SimkubeTrace(msgspec.Struct):
    """A trace in its stored form."""

    version: int
    events: list[SimkubeEvent]
    config: SimkubeConfig = msgspec.field(default_factory=SimkubeConfig)
    pod_lifecycles: dict[Any, Any] = {}


_decode_json = msgspec.json.Decoder(SimkubeTrace).decode
_decode_msgpack = msgspec.msgpack.Decoder(SimkubeTrace).decode


def trace_of_simkube(path: Path, durations: Durations, note: Note) -> Trace:
    """Return the trace in a file; raises TraceError."""
    content = whole_trace(path)
    decode = _decode_json if content.lstrip()[:1] == b"{" else _decode_msgpack
    found = decoded(decode, content, f"{path.name}: is not a SimKube trace of version {VERSION}")
    if found.version != VERSION:
        raise TraceError(f"{path.name}: is a SimKube trace of version {found.version}; expected version {VERSION}")
    reading = _TraceOfWorkloads(path.name, found)
    # stable: events of one time stay in the order of the trace
    events = sorted(reading.events(), key=lambda event: event.at)
    for kind, number in sorted(reading.left_out.items()):
        note(f"{path.name}: {number} {kind} objects are left out: the trace does not have their numbers of pods")
    return Trace(path.name, lambda seed: iter(events))


class _Owner(msgspec.Struct):
    """A workload with its pods."""

    templates: list[Document]
    pods: list[str] = []
    made: int = 0


class _TraceOfWorkloads:
    """Creates the pods of workloads."""

    def __init__(self, name: str, trace: SimkubeTrace) -> None:
        self._name = name
        self._trace = trace
        self._began = trace.events[0].ts if trace.events else 0
        self._admission = TraceAdmission()
        self._owners: dict[tuple[str, str], _Owner] = {}
        self._lives = dict(_lives_of(trace.pod_lifecycles))
        self.left_out: Counter[str] = Counter()
        self._place = name

    def events(self) -> Iterator[TraceEvent]:
        """Yield events; pods with recorded lives may come before events of earlier times."""
        before = self._began
        for number, event in enumerate(self._trace.events):
            if event.ts < before:
                raise TraceError(f"{self._name}: events[{number}].ts is {event.ts}, before the event above")
            before = event.ts
            at = float(event.ts - self._began)
            for index, document in enumerate(event.applied_objs):
                self._place = f"{self._name}: events[{number}].applied_objs[{index}]"
                yield from self._apply(document, at)
            for index, document in enumerate(event.deleted_objs):
                self._place = f"{self._name}: events[{number}].deleted_objs[{index}]"
                yield from self._delete(document, at)

    # -- applied objects

    def _apply(self, document: Document, at: float) -> Iterator[TraceEvent]:
        kind, namespace, name = self._identity(document)
        if kind == "Pod":
            yield from self._pod(document, at, namespace, name)
            return
        templates = self._templates(document, kind)
        if not templates:
            if kind in KINDS:
                yield ObjectPut(at, self._admission.admit(document, self._place))
            else:
                self.left_out[kind] += 1
            return
        key = (_gvk(document), f"{namespace}/{name}")
        known = self._owners.get(key)
        if kind in _SCALED:
            yield from self._scale(document, at, key, templates)
        elif known is None and key in self._lives:
            yield from self._live(document, key, templates)
        elif known is None and kind in _UNCOUNTED:
            self.left_out[kind] += 1
        elif known is None:
            yield from self._scale(document, at, key, templates)

    def _pod(self, document: Document, at: float, namespace: str, name: str) -> Iterator[TraceEvent]:
        pod = self._admitted(document, {"name": name, "namespace": namespace})
        key = (_gvk(document), f"{namespace}/{name}")
        if key in self._owners:
            yield ObjectPut(at, pod)
            return
        self._owners[key] = _Owner([document], [name])
        lives = self._lives.get(key, [])
        yield PodArrival(at, pod, None if not lives or lives[0][1] is None else float(lives[0][1] - lives[0][0]))

    def _scale(
        self, document: Document, at: float, key: tuple[str, str], templates: list[Document]
    ) -> Iterator[TraceEvent]:
        """Create or delete pods to match the number of replicas."""
        namespace = key[1].partition("/")[0]
        owner = self._owners.setdefault(key, _Owner(templates, []))
        if owner.templates != templates:
            yield from (ObjectDeletion(at, "Pod", f"{namespace}/{name}") for name in owner.pods)
            owner.pods, owner.templates = [], templates
        wanted = self._replicas(document) * len(templates)
        while len(owner.pods) > wanted:
            yield ObjectDeletion(at, "Pod", f"{namespace}/{owner.pods.pop()}")
        if len(owner.pods) == wanted:
            return
        yield from self._selector(document, at)
        pods = [self._pod_of(document, template) for template in templates]
        while len(owner.pods) < wanted:
            pod = self._next(owner, pods[len(owner.pods) % len(pods)], document)
            yield PodArrival(at, pod)

    def _live(self, document: Document, key: tuple[str, str], templates: list[Document]) -> Iterator[TraceEvent]:
        """Create pods that begin and end at their recorded times."""
        owner = self._owners[key] = _Owner(templates, [])
        pod = self._pod_of(document, templates[0])
        for start, end in self._lives[key]:
            at = float(max(0, start - self._began))
            yield PodArrival(at, self._next(owner, pod, document), None if end is None else float(end - start))
            if end is not None:
                # it ends at its recorded time, independently of its owner
                owner.pods.pop()

    def _next(self, owner: _Owner, pod: Pod, document: Document) -> Pod:
        name = f"{document['metadata']['name']}-{owner.made}"
        owner.made += 1
        owner.pods.append(name)
        made = renamed(pod, name)
        assert isinstance(made, Pod)
        return made

    # -- deleted objects

    def _delete(self, document: Document, at: float) -> Iterator[TraceEvent]:
        kind, namespace, name = self._identity(document)
        owner = self._owners.pop((_gvk(document), f"{namespace}/{name}"), None)
        if owner is not None:
            yield from (ObjectDeletion(at, "Pod", f"{namespace}/{pod}") for pod in owner.pods)
        if kind in KINDS and kind != "Pod":
            yield ObjectDeletion(at, kind, f"{namespace}/{name}" if namespace else name)

    # -- documents

    def _identity(self, document: Document) -> tuple[str, str, str]:
        meta = document.get("metadata")
        if not isinstance(meta, dict) or not isinstance(meta.get("name"), str) or not document.get("kind"):
            raise TraceError(f"{self._place}: expected an object with kind and metadata.name")
        return str(document["kind"]), str(meta.get("namespace") or ""), meta["name"]

    def _templates(self, document: Document, kind: str) -> list[Document]:
        """Return the pod templates of a workload, none if it has none."""
        tracked = self._trace.config.tracked_objects.get(_gvk(document))
        paths = (tracked.pod_spec_template_paths if tracked else None) or [_TEMPLATE_PATHS.get(kind, "/spec/template")]
        found = [value for path in paths for value in _at_path(document, path.strip("/").split("/"))]
        return [value for value in found if isinstance(value, dict) and isinstance(value.get("spec"), dict)]

    def _replicas(self, document: Document) -> int:
        spec = document.get("spec") or {}
        count = spec.get("replicas", spec.get("parallelism", 1))
        if count is None:
            return 1
        if not isinstance(count, int) or not 0 <= count <= _MOST_PODS:
            raise TraceError(f"{self._place}: spec.replicas is {count!r}; expected a number from 0 to {_MOST_PODS}")
        return count

    def _pod_of(self, document: Document, template: Document) -> Pod:
        kind, namespace, name = self._identity(document)
        owner_kind = "ReplicaSet" if kind == "Deployment" else kind
        owner = {
            "apiVersion": str(document.get("apiVersion", "")),
            "kind": owner_kind,
            "name": name,
            "uid": f"{kind}/{namespace}/{name}",
            "controller": True,
        }
        return self._admitted(template, {"name": name, "namespace": namespace or "default", "ownerReferences": [owner]})

    def _admitted(self, template: Document, named: Mapping[str, Any]) -> Pod:
        """Return a pod with its priority, but without the class, without decisions, and without service accounts."""
        spec = {key: value for key, value in template["spec"].items() if key not in _LEFT_BEHIND}
        meta = {key: value for key, value in (template.get("metadata") or {}).items() if value is not None}
        return admitted_pod({"metadata": meta, "spec": spec}, named, self._admission, self._place)

    def _selector(self, document: Document, at: float) -> Iterator[TraceEvent]:
        """Yield the ReplicaSet of a Deployment, which default spreading uses to find its pods."""
        kind, namespace, name = self._identity(document)
        if kind not in ("Deployment", "ReplicaSet") or not document["spec"].get("selector"):
            return
        try:
            selector = msgspec.convert(document["spec"]["selector"], LabelSelector)
        except msgspec.ValidationError as error:
            raise TraceError(f"{self._place}: spec.selector: {error}") from None
        yield ObjectPut(
            at, ReplicaSet(metadata=ObjectMeta(name=name, namespace=namespace), spec=ReplicaSetSpec(selector=selector))
        )


_LEFT_BEHIND = frozenset({"nodeName", "priorityClassName", "serviceAccount", "serviceAccountName", "runtimeClassName"})


def _gvk(document: Document) -> str:
    return f"{document.get('apiVersion', '')}.{document.get('kind', '')}"


def _at_path(value: Any, parts: list[str]) -> Iterator[Any]:
    """Yield the values at a path, in which * stands for every element of a list."""
    if not parts or parts == [""]:
        yield value
    elif parts[0] == "*" and isinstance(value, list):
        for each in value:
            yield from _at_path(each, parts[1:])
    elif isinstance(value, dict) and parts[0] in value:
        yield from _at_path(value[parts[0]], parts[1:])


def _lives_of(lifecycles: Mapping[Any, Any]) -> Iterator[tuple[tuple[str, str], list[tuple[int, int | None]]]]:
    """Yield for each owner the begins and ends of its pods, in order."""
    for key, by_hash in lifecycles.items():
        if not isinstance(key, tuple | list) or len(key) != 2 or not isinstance(by_hash, dict):
            raise TraceError("pod_lifecycles: expected a kind and a name, and lives by hash")
        lives = [life for several in by_hash.values() for life in _read_lives(several)]
        if lives:
            yield (str(key[0]), str(key[1])), sorted(lives, key=lambda life: life[0])


def _read_lives(lives: Any) -> Iterator[tuple[int, int | None]]:
    for life in lives if isinstance(lives, list) else ():
        match life:
            case {"Finished": [int() as start, int() as end]} if end >= start:
                yield start, end
            case {"Running": int() as start} | {"Running": [int() as start]}:
                yield start, None
            case "Empty":
                pass
            case _:
                raise TraceError(f"pod_lifecycles: {life!r} is not a life of a pod, such as Finished: [START, END]")
