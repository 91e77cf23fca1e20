"""What leaves the process of an object: texts of fields that an allow-list names, and of no others."""

import itertools
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
import pytest
from msgspec.structs import fields

from kubesched.api.codec import decode, encode
from kubesched.api.kinds import API_VERSIONS, KINDS
from kubesched.api.meta import ApiObject
from kubesched.sources.reduction import ANNOTATIONS, KEPT, KEPT_ANNOTATIONS, has_text, reduced, structs_in
from kubesched.sources.unread import UNREAD_KINDS

WRITTEN: dict[str, Any] = {name: kind for name, kind in KINDS.items() if name not in UNREAD_KINDS}


def reachable() -> dict[str, type[msgspec.Struct]]:
    """Return the structs that objects of written kinds are made of, by name."""
    found: dict[str, type[msgspec.Struct]] = {}
    waiting = list(WRITTEN.values())
    while waiting:
        struct = waiting.pop()
        if struct.__name__ not in found:
            found[struct.__name__] = struct
            waiting += [each for field in fields(struct) for each in structs_in(field.type)]
        assert found[struct.__name__] is struct, f"two structs are named {struct.__name__}"
    return found


STRUCTS = reachable()


class Canaries:
    """Fills every field of a struct that can have a text with one of its own."""

    def __init__(self) -> None:
        self.field_of: dict[str, str] = {}
        self._number = itertools.count()

    def filled(self, struct: type[msgspec.Struct], place: str = "") -> Any:
        given = {}
        for field in fields(struct):
            if not has_text(field.type):
                continue
            given[field.name] = self.value(field.type, f"{struct.__name__}.{field.name}")
        return msgspec.convert({}, struct) if not given else struct(**given)

    def value(self, kind: Any, field: str) -> Any:
        if not has_text(kind):
            return None
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self.value(parts[0], field)
        if origin in (Union, UnionType):
            return self.value(next(each for each in parts if has_text(each)), field)
        if origin is tuple:
            return (self.value(parts[0], field),)
        if origin is dict:
            return {self.value(parts[0], field): self.value(parts[1], field)}
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.filled(kind)
        text = f"canary-{next(self._number)}-"
        self.field_of[text] = field
        return text

    def surviving(self, content: str) -> set[str]:
        """Return the fields whose texts are in a text."""
        return {field for text, field in self.field_of.items() if text in content}


@pytest.mark.parametrize("kind", WRITTEN)
def test_only_texts_of_fields_on_the_list_leave_the_process(kind: str) -> None:
    canaries = Canaries()
    obj = canaries.filled(WRITTEN[kind])
    kept = canaries.surviving(repr(reduced(obj)))
    named = {f"{struct}.{field}" for struct, names in KEPT.items() for field in names if field != ANNOTATIONS}
    assert kept <= named
    assert {"ObjectMeta.name", f"{kind}.kind"} <= kept


def test_the_list_names_fields_that_are_there_and_that_can_have_texts() -> None:
    assert set(KEPT) <= set(STRUCTS)
    for name, kept in KEPT.items():
        found = {field.name: field for field in fields(STRUCTS[name])}
        assert kept <= set(found), name
        assert [each for each in kept if not has_text(found[each].type)] == [], name


def test_a_field_without_a_default_is_on_the_list() -> None:
    def required() -> Iterator[str]:
        for name, struct in STRUCTS.items():
            for field in fields(struct):
                if field.required and has_text(field.type) and field.name not in KEPT.get(name, ()):
                    yield f"{name}.{field.name}"

    assert list(required()) == []


SECRET = "password=1234"
LEFT_OUT: dict[str, dict[str, Any]] = {
    "mount options of a volume": {
        "kind": "PersistentVolume",
        "spec": {"capacity": {"storage": "1Gi"}, "mountOptions": [SECRET], "csi": {"driver": "d", "volumeHandle": "h"}},
    },
    "the message of a volume": {"kind": "PersistentVolume", "status": {"message": SECRET, "reason": SECRET}},
    "the user of a disk": {
        "kind": "PersistentVolume",
        "spec": {"rbd": {"monitors": ["m"], "image": "i", "user": SECRET, "keyring": SECRET}},
    },
    "attributes of a volume": {
        "kind": "PersistentVolume",
        "spec": {"csi": {"driver": "d", "volumeHandle": "h", "volumeAttributes": {"k": SECRET}}},
    },
    "mount options of a class": {"kind": "StorageClass", "provisioner": "p", "mountOptions": [SECRET]},
    "parameters of a class": {"kind": "StorageClass", "provisioner": "p", "parameters": {"k": SECRET}},
    "errors of an attachment": {
        "kind": "VolumeAttachment",
        "spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}},
        "status": {"attached": False, "attachError": {"message": SECRET}, "detachError": {"message": SECRET}},
    },
    "mount options of an attachment's volume": {
        "kind": "VolumeAttachment",
        "spec": {
            "attacher": "a",
            "nodeName": "n",
            "source": {"inlineVolumeSpec": {"mountOptions": [SECRET], "csi": {"driver": "d", "volumeHandle": "h"}}},
        },
    },
    "the conditions of a claim": {
        "kind": "PersistentVolumeClaim",
        "status": {"phase": "Pending", "conditions": [{"type": "Resizing", "status": "True", "message": SECRET}]},
    },
    "addresses and identities of a node": {
        "kind": "Node",
        "spec": {"providerID": SECRET, "podCIDR": SECRET},
        "status": {"addresses": [{"type": "Hostname", "address": SECRET}], "nodeInfo": {"machineID": SECRET}},
    },
    "the description of a priority": {"kind": "PriorityClass", "value": 1, "description": SECRET},
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_scheduling_does_not_read_is_left_out(case: str) -> None:
    version = API_VERSIONS[LEFT_OUT[case]["kind"]]
    document = {"apiVersion": version, "metadata": {"name": "a", "namespace": "ns", "uid": "u"}, **LEFT_OUT[case]}
    obj: ApiObject = decode(document)
    assert SECRET in repr(obj)
    assert SECRET not in repr(reduced(obj))
    assert SECRET.encode() not in encode(reduced(obj))


def test_annotations_that_plugins_read_stay_and_others_do_not() -> None:
    annotations = {**dict.fromkeys(KEPT_ANNOTATIONS, "kept"), "note": SECRET}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "annotations": annotations}}
    assert reduced(decode(document)).metadata.annotations == dict.fromkeys(KEPT_ANNOTATIONS, "kept")


def test_an_object_with_nothing_to_leave_out_is_the_same_object() -> None:
    pod = decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": []}})
    assert reduced(pod) is pod
