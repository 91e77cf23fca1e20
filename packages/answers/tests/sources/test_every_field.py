"""Every field of the kinds that scheduling reads comes back from a snapshot, but for those that nobody reads."""

from collections.abc import Iterator
from typing import Any

import msgspec
import msgspec.inspect
import pytest

from kubesched.api.codec import decode, to_builtins
from kubesched.api.kinds import API_VERSIONS, KINDS
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.unread import UNREAD_KINDS
from kubesched_answers.sources.anonymising import anonymised
from kubesched_answers.sources.snapshots import read_snapshot, snapshot_bytes

# what no plugin, no drain and no admission reads: options of volumes and drivers, addresses, errors, texts for people
NOT_WRITTEN = frozenset(
    [
        "addresses",
        "annotations",
        "attachError",
        "attachmentMetadata",
        "containerRuntimeVersion",
        "data",
        "description",
        "detachError",
        "fsType",
        "initiatorName",
        "kernelVersion",
        "keyring",
        "machineID",
        "mountOptions",
        "networkData",
        "osImage",
        "parameters",
        "podCIDR",
        "podCIDRs",
        "providerID",
        "secretNamespace",
        "secretRef",
        "tokenRequests",
        "user",
        "volumeAttributes",
        "DeviceTaintRule.conditions",
        "Namespace.conditions",
        "Namespace.finalizers",
        "PersistentVolume.message",
        "PersistentVolume.reason",
        "PersistentVolumeClaim.conditions",
        "PodDisruptionBudget.conditions",
    ]
)
# an anonymised snapshot leaves out texts for people and names of machines, too; evicted pods have codes
NOT_TOLD = NOT_WRITTEN | {"disruptedPods", "generateName", "message", "nodeID", "resourceVersion"}
READ_KINDS = [kind for kind in KINDS if kind not in UNREAD_KINDS]


def a_value(kind: msgspec.inspect.Type) -> Any:
    """Return a value of a type with all fields."""
    match kind:
        case msgspec.inspect.StructType():
            return {field.encode_name: a_value(field.type) for field in kind.fields}
        case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
            return [a_value(kind.item_type)]
        case msgspec.inspect.DictType():
            return {"key": a_value(kind.value_type)}
        case msgspec.inspect.UnionType():
            return a_value(next(each for each in kind.types if not isinstance(each, msgspec.inspect.NoneType)))
        case msgspec.inspect.IntType():
            return 3
        case msgspec.inspect.BoolType():
            return True
        case msgspec.inspect.DateTimeType():
            return "2026-01-01T00:00:00Z"
    return "1"


def an_object(kind: str) -> Any:
    """Return an object of a kind with all fields."""
    document = {**a_value(msgspec.inspect.type_info(KINDS[kind])), "kind": kind, "apiVersion": API_VERSIONS[kind]}
    return decode(document)


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the leaves of a document, with their paths."""
    if isinstance(value, dict):
        for field, each in value.items():
            yield from leaves(each, (*path, field))
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, path)
    else:
        yield path, value


def is_read(kind: str, path: tuple[str, ...], left_out: frozenset[str]) -> bool:
    """Return whether a field is none of some that are left out, of any kind or of this one."""
    return not left_out & {*path, *(f"{kind}.{field}" for field in path)}


@pytest.mark.parametrize("kind", READ_KINDS)
def test_a_snapshot_has_every_field_that_is_read(kind: str) -> None:
    cluster = ClusterObjects((an_object(kind),))
    (found,) = read_snapshot("here", snapshot_bytes(cluster)).objects
    before, after = (dict(leaves(to_builtins(obj))) for obj in (cluster.objects[0], found))
    read = {path: value for path, value in before.items() if is_read(kind, path, NOT_WRITTEN)}
    assert read.items() <= after.items()


@pytest.mark.parametrize("kind", READ_KINDS)
def test_an_anonymised_snapshot_has_every_field_that_is_read(kind: str) -> None:
    cluster = ClusterObjects((an_object(kind),))
    (found,) = read_snapshot("here", snapshot_bytes(anonymised(cluster, b"key"))).objects
    before, after = ({path for path, _ in leaves(to_builtins(obj))} for obj in (cluster.objects[0], found))
    assert {path for path in before if is_read(kind, path, NOT_TOLD)} <= after
