"""Recordings and exports of kwok (`kwokctl snapshot record`, `kwokctl snapshot export`).

From YAML documents, first the initial objects, then patches with their times, to reports:

    apiVersion: action.kwok.x-k8s.io/v1alpha1
    kind: ResourcePatch
    resource: {version: v1, resource: pods}
    target: {name: web-1, namespace: default}
    durationNanosecond: 3500000000
    method: create                            # or patch (a strategic merge patch), delete
    template: {...}

Times in objects are texts such as $(time-offset-nanosecond -5000000000), relative to the beginning.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject
from kubesched.common.notes import Note
from kubesched.common.virtual_time import BEGINNING
from kubesched.errors import InvalidObjectError
from kubesched.manifests import Manifest, parsed
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.merging import MergeError, strategic_merge
from kubesched_controlplane.server.catalog import RESOURCES
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.opening import whole_trace
from kubesched_lab.simulate.traces.recording.recorded_objects import RECORDED_KINDS
from kubesched_lab.simulate.traces.recording.reports import ObjectReport, trace_of_reports
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.trace import Trace

# one of these texts is in every recording; exports without patches have such times, too
MARKS = (b"kind: ResourcePatch", b"$(time-offset-nanosecond ")
_KIND = "ResourcePatch"
_OFFSET = re.compile(rb"\$\(time-offset-nanosecond (-?\d+)\)")
_METHODS = ("create", "patch", "delete")
Document = dict[str, Any]
Key = tuple[str, str, str]


class PatchedResource(msgspec.Struct):
    """The kind of a patched object, by its plural."""

    version: str
    resource: str
    group: str = ""


class PatchTarget(msgspec.Struct):
    """The name of a patched object."""

    name: str
    namespace: str = ""


class ResourcePatch(msgspec.Struct, rename="camel"):
    """A change and its time."""

    resource: PatchedResource
    target: PatchTarget
    duration_nanosecond: int
    method: str
    template: Document | None = None


def trace_of_kwok(path: Path, durations: Durations, note: Note) -> Trace:
    """Return the trace of a recording; raises TraceError."""
    content = _OFFSET.sub(_moment, whole_trace(path))
    manifests, problems = parsed(str(path), content)
    if problems:
        raise TraceError("; ".join(problems))
    # read the whole file now, so that errors come before the simulation
    reports = list(_Reading().reports(manifests))
    return trace_of_reports(path.name, lambda: iter(reports), durations)


def _moment(match: re.Match[bytes]) -> bytes:
    """Return a time relative to the beginning as simulated time."""
    try:
        time = BEGINNING + timedelta(microseconds=int(match[1]) // 1000)
    except OverflowError:
        time = BEGINNING
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z").encode()


class _Reading:
    """Applies patches to objects, one after the other."""

    def __init__(self) -> None:
        self._documents: dict[Key, Document] = {}
        self._kinds = {(each.group, each.plural): each for each in RESOURCES}
        self._at = 0.0

    def reports(self, manifests: list[Manifest]) -> Iterator[ObjectReport]:
        """Yield a report for each document about a kind that the scheduler reads."""
        for manifest in manifests:
            if manifest.kind != _KIND:
                yield from self._initial(manifest)
            else:
                yield from self._patched(manifest)

    def _initial(self, manifest: Manifest) -> Iterator[ObjectReport]:
        document = manifest.document
        meta = document.get("metadata")
        if not isinstance(meta, dict) or manifest.kind not in RECORDED_KINDS:
            return
        self._documents[manifest.kind, meta.get("namespace", ""), manifest.name] = document
        yield ObjectReport(0.0, _object(document, manifest.place))

    def _patched(self, manifest: Manifest) -> Iterator[ObjectReport]:
        try:
            patch = msgspec.convert(manifest.document, ResourcePatch)
        except msgspec.ValidationError as error:
            raise TraceError(f"{manifest.place}: {error}") from None
        resource = self._kinds.get((patch.resource.group, patch.resource.resource))
        if resource is None or resource.kind not in RECORDED_KINDS:
            return
        if patch.method not in _METHODS:
            raise TraceError(f"{manifest.place}: method is {patch.method!r}; expected {', '.join(_METHODS)}")
        # after the beginning, so that it does not count as initial
        self._at = max(self._at, patch.duration_nanosecond / 1e9, 1e-3)
        key = (resource.kind, patch.target.namespace, patch.target.name)
        if patch.method == "delete":
            gone = self._documents.pop(key, None)
            if gone is not None:
                yield ObjectReport(self._at, _object(gone, manifest.place), deleted=True)
            return
        document = self._documents[key] = self._changed(patch, resource, manifest.place)
        yield ObjectReport(self._at, _object(document, manifest.place))

    def _changed(self, patch: ResourcePatch, resource: Resource, place: str) -> Document:
        """Return an object after a patch."""
        if patch.template is None:
            raise TraceError(f"{place}: `template` is missing, which method {patch.method} needs")
        target = patch.target
        known = self._documents.get((resource.kind, target.namespace, target.name))
        version = f"{resource.group}/{resource.version}" if resource.group else resource.version
        kind = {"apiVersion": version, "kind": resource.kind}
        if patch.method == "create":
            return {**kind, **patch.template}
        if known is None:
            raise TraceError(f"{place}: {resource.kind} {target.name} is patched, but was not created before")
        shape = library().kind(version, resource.kind)
        assert shape is not None
        try:
            return strategic_merge(shape, known, patch.template)
        except MergeError as error:
            raise TraceError(f"{place}: `template`: {error}") from None


def _object(document: Mapping[str, Any], place: str) -> ApiObject:
    try:
        return decode(document)
    except InvalidObjectError as error:
        raise TraceError(f"{place}: {error}") from None
