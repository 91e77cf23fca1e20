"""Tables of volumes, claims and storage classes."""

# upstream: pkg/printers/internalversion/printers.go, pkg/apis/core/helper/helpers.go (v1.36)

from collections.abc import Sequence
from datetime import datetime

from kubesched_controlplane.representation.tables.printing import (
    NONE,
    UNSET,
    Cells,
    Document,
    Printer,
    age,
    columns,
    is_terminating,
    name,
    spec,
    status,
)

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULTS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _modes(modes: Sequence[str] | None) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def _class(document: Document) -> str:
    annotations = document["metadata"].get("annotations") or {}
    return annotations.get(_CLASS) or spec(document).get("storageClassName") or ""


def _phase(document: Document) -> str:
    return "Terminating" if is_terminating(document) else status(document).get("phase") or ""


def _volume(volume: Document, now: datetime) -> Cells:
    wanted = spec(volume)
    claim = wanted.get("claimRef")
    return [
        name(volume),
        (wanted.get("capacity") or {}).get("storage", "0"),
        _modes(wanted.get("accessModes")),
        wanted.get("persistentVolumeReclaimPolicy") or "",
        _phase(volume),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim is not None else "",
        _class(volume),
        wanted.get("volumeAttributesClassName") or UNSET,
        status(volume).get("reason") or "",
        age(volume, now),
        wanted.get("volumeMode") or UNSET,
    ]


def _claim(claim: Document, now: datetime) -> Cells:
    wanted, found = spec(claim), status(claim)
    volume = wanted.get("volumeName") or ""
    return [
        name(claim),
        _phase(claim),
        volume,
        (found.get("capacity") or {}).get("storage", "0") if volume else "",
        _modes(found.get("accessModes")) if volume else "",
        _class(claim),
        wanted.get("volumeAttributesClassName") or UNSET,
        age(claim, now),
        wanted.get("volumeMode") or UNSET,
    ]


def _storage_class(found: Document, now: datetime) -> Cells:
    annotations = found["metadata"].get("annotations") or {}
    is_default = any(annotations.get(key) == "true" for key in _DEFAULTS)
    return [
        f"{name(found)} (default)" if is_default else name(found),
        found.get("provisioner") or "",
        found.get("reclaimPolicy") or "Delete",
        found.get("volumeBindingMode") or "Immediate",
        bool(found.get("allowVolumeExpansion")),
        age(found, now),
    ]


def _driver(driver: Document, now: datetime) -> Cells:
    wanted = spec(driver)
    tokens = wanted.get("tokenRequests")
    return [
        name(driver),
        wanted.get("attachRequired") is not False,
        bool(wanted.get("podInfoOnMount")),
        bool(wanted.get("storageCapacity")),
        UNSET if tokens is None else ",".join(each.get("audience") or "" for each in tokens),
        bool(wanted.get("requiresRepublish")),
        ",".join(wanted.get("volumeLifecycleModes") or ()) or NONE,
        age(driver, now),
    ]


def _attachment(attachment: Document, now: datetime) -> Cells:
    wanted = spec(attachment)
    return [
        name(attachment),
        wanted.get("attacher") or "",
        (wanted.get("source") or {}).get("persistentVolumeName") or "",
        wanted.get("nodeName") or "",
        bool(status(attachment).get("attached")),
        age(attachment, now),
    ]


PERSISTENT_VOLUME_PRINTER = Printer(
    columns(
        "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, VolumeAttributesClass, Reason, "
        "Age | VolumeMode"
    ),
    _volume,
)
PERSISTENT_VOLUME_CLAIM_PRINTER = Printer(
    columns("Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age | VolumeMode"),
    _claim,
)
STORAGE_CLASS_PRINTER = Printer(
    columns("Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age"), _storage_class
)
VOLUME_ATTRIBUTES_CLASS_PRINTER = Printer(
    columns("Name, DriverName, Age"), lambda found, now: [name(found), found.get("driverName"), age(found, now)]
)
CSI_NODE_PRINTER = Printer(
    columns("Name, Drivers:integer, Age"),
    lambda found, now: [name(found), len(spec(found).get("drivers") or ()), age(found, now)],
)
CSI_DRIVER_PRINTER = Printer(
    columns(
        "Name, AttachRequired:boolean, PodInfoOnMount:boolean, StorageCapacity:boolean, TokenRequests, "
        "RequiresRepublish:boolean, Modes, Age"
    ),
    _driver,
)
VOLUME_ATTACHMENT_PRINTER = Printer(columns("Name, Attacher, PV, Node, Attached:boolean, Age"), _attachment)
