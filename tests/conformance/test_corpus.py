"""The public corpus: every line in scope gets the reference's answer, to the letter.

Lines are checked in portions so that processes share them. Storage, devices and pod groups are the next issues'; the
lines that involve them are left out here and listed in `docs/architecture.md`.
"""

import gzip
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.conformance.corpus import answer, differences

DATA = Path(__file__).parent / "data"
PORTION = 40
WHOLE = (
    "resources",
    "taints",
    "ports",
    "node-affinity",
    "inter-pod-affinity",
    "topology-spread",
    "image-locality",
    "preemption",
    "preemption-sequence",
    "quantities",
    "selectors",
    "tables",
    "config",
)
IN_PART = ("framework", "mixed", "cluster-events", "queueing-hints")
LATER_KINDS = {
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "CSINode",
    "CSIDriver",
    "CSIStorageCapacity",
    "VolumeAttachment",
    "ResourceClaim",
    "ResourceSlice",
    "DeviceClass",
    "DeviceTaintRule",
}
LATER_PLUGINS = {
    "DynamicResources",
    "GangScheduling",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
}
LATER_GATES = {"GenericWorkload", "GangScheduling"}


@cache
def lines(file: str) -> list[tuple[int, dict[str, Any]]]:
    with gzip.open(DATA / f"{file}.jsonl.gz") as stream:
        parsed = [(number, msgspec.json.decode(line)) for number, line in enumerate(stream, 1)]
    return [(number, line) for number, line in parsed if in_scope(file, line)]


def in_scope(file: str, line: dict[str, Any]) -> bool:
    if file in WHOLE:
        return True
    if LATER_GATES & set(line.get("featureGates") or {}):
        return False
    if "plugin" in line:
        return line["plugin"] not in LATER_PLUGINS
    objects = line.get("objects") or ()
    return not LATER_KINDS & {document["kind"] for document in objects} and not any(map(has_claims, objects))


def has_claims(document: dict[str, Any]) -> bool:
    return document["kind"] == "Pod" and bool(document["spec"].get("resourceClaims"))


def portions() -> list[Any]:
    return [
        pytest.param(file, start, id=f"{file}-{start}")
        for file in (*WHOLE, *IN_PART)
        for start in range(0, len(lines(file)), PORTION)
    ]


@pytest.mark.parametrize(("file", "start"), portions())
def test_answers_equal_the_reference(file: str, start: int) -> None:
    found = [
        f"{file}:{number}: {line.get('name', '')}: {difference}"
        for number, line in lines(file)[start : start + PORTION]
        for difference in differences(line["expected"], answer(line, steered=True))
    ]
    assert not found, "\n".join(found[:20])
