"""Workloads: the kinds whose controllers create pods, reduced to the fields for questions about pods.

From the document of a Deployment, StatefulSet, ReplicaSet, DaemonSet, Job, CronJob or ReplicationController to a
smaller one: its name, labels and owners, how many pods it wants and which it selects, and a template whose pod spec
has only the fields that scheduling reads. Commands, environment and similar fields are left out. The last-applied
manifest in the annotation is reduced in the same way.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from kubesched.api.codec import decode_json, to_builtins
from kubesched.api.last_applied import LAST_APPLIED, last_applied, with_last_applied
from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Pod
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.errors import InvalidObjectError
from kubesched.sources.reduction import reduced, reduced_meta

Document = dict[str, Any]

# the kinds with the version to read
WORKLOAD_KINDS: Final = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "ReplicationController": "v1",
}
# the fields of a spec that are kept unchanged: numbers, words of the API, and selectors
_KEPT: Final = (
    "replicas",
    "parallelism",
    "completions",
    "completionMode",
    "suspend",
    "selector",
    "strategy",
    "updateStrategy",
    "podManagementPolicy",
    "ordinals",
    "paused",
    "backoffLimit",
    "podReplacementPolicy",
    "progressDeadlineSeconds",
    "persistentVolumeClaimRetentionPolicy",
    "serviceName",
    "minReadySeconds",
    "schedule",
    "concurrencyPolicy",
)


def is_workload(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a workload."""
    version = WORKLOAD_KINDS.get(str(document.get("kind")))
    return version is not None and version == document.get("apiVersion")


def reduced_workload(document: Mapping[str, Any]) -> Document:
    """Return a workload reduced to the fields for questions; raises InvalidObjectError."""
    kind = str(document["kind"])
    try:
        return _reduced(kind, document)
    except (AttributeError, TypeError, *UNREADABLE) as error:
        raise InvalidObjectError(f"{kind}: cannot be read: {error}") from None


def _reduced(kind: str, document: Mapping[str, Any]) -> Document:
    try:
        meta = msgspec.convert(document.get("metadata") or {}, ObjectMeta)
    except msgspec.ValidationError as error:
        raise InvalidObjectError(f"{kind}: metadata: {error}") from None
    found = {
        "apiVersion": document["apiVersion"],
        "kind": kind,
        "metadata": to_builtins(reduced_meta(meta)),
        "spec": _spec(f"{kind} {meta.name}", document.get("spec")),
    }
    last = last_applied(dict(document)) if LAST_APPLIED in meta.annotations else {}
    if is_workload(last):
        # an invalid one counts as missing
        with suppress(InvalidObjectError):
            return with_last_applied(found, reduced_workload(last))
    return found


def _spec(named: str, spec: Any) -> Document:
    if not isinstance(spec, Mapping):
        raise InvalidObjectError(f"{named}: spec: expected an object")
    kept: Document = {field: spec[field] for field in _KEPT if spec.get(field) is not None}
    if spec.get("template") is not None:
        kept["template"] = _template(spec["template"])
    if spec.get("jobTemplate") is not None:
        kept["jobTemplate"] = {"spec": _spec(f"{named}: jobTemplate", spec["jobTemplate"].get("spec"))}
    if spec.get("volumeClaimTemplates"):
        kept["volumeClaimTemplates"] = [_claim(each) for each in spec["volumeClaimTemplates"]]
    return kept


def _template(template: Any) -> Document:
    pod = reduced(decode_json(Pod, msgspec.json.encode(template)))
    return {field: value for field, value in to_builtins(pod).items() if field in ("metadata", "spec")}


def _claim(template: Any) -> Document:
    return to_builtins(reduced(decode_json(PersistentVolumeClaim, msgspec.json.encode(template))))
