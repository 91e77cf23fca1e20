"""Documents to structs and back: what decodes, what is refused and how, what survives the round trip."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.api import tolerant_json
from kubesched.api.codec import decode, decode_json, encode, to_builtins
from kubesched.api.coordination import Lease, LeaseSpec
from kubesched.api.devices import DeviceAttribute, ResourceClaim
from kubesched.api.events import Event, EventSeries
from kubesched.api.kinds import API_VERSIONS, KINDS
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.nodes import Node
from kubesched.api.pods import Container, Pod, PodSpec
from kubesched.api.policy import PodDisruptionBudget
from kubesched.api.storage import CSINode
from kubesched.errors import InvalidObjectError

CORPUS = Path(__file__).parents[1] / "conformance" / "data"
CORPUS_FILES = sorted(CORPUS.glob("*.jsonl.gz"))


def a_document(kind: str = "Pod", **fields: Any) -> dict[str, Any]:
    """Return a document of the kind, named default/web-0 unless told otherwise."""
    return {
        "apiVersion": API_VERSIONS[kind],
        "kind": kind,
        "metadata": {"name": "web-0", "namespace": "default"},
    } | fields


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every Kubernetes object inside a parsed line of the corpus."""
    if isinstance(value, dict):
        if {"apiVersion", "kind", "metadata"} <= value.keys():
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from objects_in(item)


@pytest.mark.skipif(not CORPUS_FILES, reason="the corpus is not here")
@pytest.mark.parametrize("file", CORPUS_FILES, ids=lambda file: file.name.removesuffix(".jsonl.gz"))
def test_every_object_of_the_corpus_decodes_and_survives_the_round_trip(file: Path) -> None:
    seen: set[str] = set()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            for document in objects_in(json.loads(line)):
                text = json.dumps(document)
                if text in seen:
                    continue
                seen.add(text)
                obj = decode(document)
                assert type(obj).__name__ == document["kind"]
                assert decode_json(type(obj), text) == obj
                assert decode_json(type(obj), encode(obj)) == obj


def test_each_kind_is_registered_under_its_name_and_decodes_from_nothing_but_a_name() -> None:
    for kind, kind_type in KINDS.items():
        obj = decode(a_document(kind))
        assert type(obj) is kind_type
        assert (obj.kind, obj.api_version, obj.full_name) == (kind, API_VERSIONS[kind], "default/web-0")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_object_with_null_for_every_field_is_the_object_without_them(kind: str) -> None:
    fields = {field.encode_name for field in msgspec.structs.fields(KINDS[kind])} - {"apiVersion", "kind", "metadata"}
    assert decode(a_document(kind, **dict.fromkeys(fields))) == decode(a_document(kind))


@pytest.mark.parametrize(
    ("why", "kind", "with_nulls", "without"),
    [
        ("a null list is empty", "Pod", {"spec": {"containers": None}}, {"spec": {}}),
        (
            "a null time is unset",
            "Node",
            {"metadata": {"name": "n", "creationTimestamp": None}},
            {"metadata": {"name": "n"}},
        ),
        (
            "nulls deep inside are found",
            "Pod",
            {"spec": {"containers": [{"name": "c", "ports": [{"hostPort": None, "protocol": "TCP"}]}]}},
            {"spec": {"containers": [{"name": "c", "ports": [{"protocol": "TCP"}]}]}},
        ),
        (
            "a label without a value is the empty string, as Go has it, and not a missing label",
            "Node",
            {"metadata": {"name": "n", "labels": {"node-role.kubernetes.io/control-plane": None}}},
            {"metadata": {"name": "n", "labels": {"node-role.kubernetes.io/control-plane": ""}}},
        ),
        (
            "a null quantity is zero",
            "Node",
            {"status": {"capacity": {"cpu": None}}},
            {"status": {"capacity": {"cpu": 0}}},
        ),
        ("a null item is the zero item", "Pod", {"spec": {"containers": [None]}}, {"spec": {"containers": [{}]}}),
        (
            "a null string in a list is empty",
            "Pod",
            {"metadata": {"finalizers": [None]}},
            {"metadata": {"finalizers": [""]}},
        ),
        (
            "a null struct in a map is the zero struct",
            "ResourceSlice",
            {"spec": {"devices": [{"name": "d", "attributes": {"a": None}}], "pool": None}},
            {"spec": {"devices": [{"name": "d", "attributes": {"a": {}}}]}},
        ),
        (
            "what Go writes for a node without drivers",
            "CSINode",
            {"spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": None}]}},
            {"spec": {"drivers": [{"name": "d", "nodeID": "n"}]}},
        ),
    ],
)
def test_nulls_are_read_as_go_reads_them(
    why: str, kind: str, with_nulls: dict[str, Any], without: dict[str, Any]
) -> None:
    expected = decode(a_document(kind, **without))
    assert decode(a_document(kind, **with_nulls)) == expected, why
    assert decode_json(KINDS[kind], json.dumps(a_document(kind, **with_nulls))) == expected, why


def test_nulls_inside_the_parameters_of_a_driver_are_left_alone() -> None:
    config = {"opaque": {"driver": "d", "parameters": {"a": None, "b": [None]}}}
    claim = decode(a_document("ResourceClaim", spec={"devices": {"requests": None, "config": [config]}}))
    assert isinstance(claim, ResourceClaim)
    opaque = claim.spec.devices.config[0].opaque
    assert opaque is not None
    assert opaque.parameters == {"a": None, "b": [None]}


BAD_FIELDS: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "a number where a string belongs, in a list",
        "Pod",
        {"spec": {"containers": [{"name": "ok"}, {"name": 7}]}},
        "Pod default/web-0: spec.containers[1].name: expected a string, got 7",
    ),
    (
        "an unquoted number as a label is named by its key",
        "Pod",
        {"metadata": {"name": "web-0", "namespace": "default", "labels": {"app": "web", "version": 2}}},
        'Pod default/web-0: metadata.labels["version"]: expected a string, got 2',
    ),
    (
        "an unquoted yes as a node selector value",
        "Pod",
        {"spec": {"nodeSelector": {"gpu": True}}},
        'Pod default/web-0: spec.nodeSelector["gpu"]: expected a string, got true',
    ),
    (
        "a field inside a value of a map",
        "ResourceSlice",
        {"metadata": {"name": "s"}, "spec": {"devices": [{"attributes": {"ok": {"int": 1}, "bad": {"int": "1"}}}]}},
        'ResourceSlice s: spec.devices[0].attributes["bad"].int: expected an integer, got "1"',
    ),
    (
        "a list where a mapping belongs",
        "Node",
        {"metadata": {"name": "n"}, "spec": ["taints"]},
        "Node n: spec: expected a mapping, got a list",
    ),
    (
        "a mapping where a list belongs",
        "Pod",
        {"spec": {"tolerations": {"key": "a"}}},
        "Pod default/web-0: spec.tolerations: expected a list, got a mapping",
    ),
    (
        "a quantity that is no scalar",
        "Node",
        {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": ["8Gi"]}}},
        'Node n: status.allocatable["memory"]: expected a quantity, got a list',
    ),
    (
        "a string where a flag belongs",
        "Node",
        {"metadata": {"name": "n"}, "spec": {"unschedulable": "yes"}},
        'Node n: spec.unschedulable: expected true or false, got "yes"',
    ),
    (
        "an int-or-string that is neither",
        "PodDisruptionBudget",
        {"spec": {"minAvailable": 0.5}},
        "PodDisruptionBudget default/web-0: spec.minAvailable: expected an integer or a string, got 0.5",
    ),
    (
        "a time that is none",
        "Pod",
        {"status": {"startTime": "yesterday"}},
        'Pod default/web-0: status.startTime: expected a time such as 2006-01-02T15:04:05Z, got "yesterday"',
    ),
    (
        "a time without an offset",
        "Pod",
        {"status": {"startTime": "2024-01-31T12:00:00"}},
        'Pod default/web-0: status.startTime: expected a time such as 2006-01-02T15:04:05Z, got "2024-01-31T12:00:00"',
    ),
    (
        "a number that does not fit",
        "Pod",
        {"spec": {"priority": 2**31}},
        "Pod default/web-0: spec.priority: expected an integer <= 2147483647, got 2147483648",
    ),
    (
        "a fraction where an integer belongs",
        "Pod",
        {"spec": {"priority": 1.5}},
        "Pod default/web-0: spec.priority: expected an integer, got 1.5",
    ),
    (
        "metadata that is no mapping",
        "Pod",
        {"metadata": "web-0"},
        'Pod without a name: metadata: expected a mapping, got "web-0"',
    ),
    (
        "a name that is no string",
        "Pod",
        {"metadata": {"name": 5}},
        "Pod without a name: metadata.name: expected a string, got 5",
    ),
    (
        "a null next to the mistake does not hide it",
        "Pod",
        {"spec": {"containers": [{"name": "c", "ports": None, "image": 3}]}},
        "Pod default/web-0: spec.containers[0].image: expected a string, got 3",
    ),
]


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"), [case[1:] for case in BAD_FIELDS], ids=[case[0] for case in BAD_FIELDS]
)
def test_a_bad_field_is_named_with_its_object_and_what_was_expected(
    kind: str, fields: dict[str, Any], sentence: str
) -> None:
    document = a_document(kind, **fields)
    with pytest.raises(InvalidObjectError) as error:
        decode(document)
    assert str(error.value) == sentence
    with pytest.raises(InvalidObjectError) as error:
        decode_json(KINDS[kind], json.dumps(document))
    assert str(error.value) == sentence


BAD_DOCUMENTS: list[tuple[str, Any, str]] = [
    ("not a mapping", ["Pod"], "expected an object with apiVersion and kind, got a list"),
    ("an empty YAML document", None, "expected an object with apiVersion and kind, got nothing"),
    ("no kind", {"apiVersion": "v1", "metadata": {"name": "x"}}, "object x has no kind"),
    ("an empty kind", {"apiVersion": "v1", "kind": ""}, "object without a name has no kind"),
    (
        "a kind that is no string",
        {"apiVersion": "v1", "kind": 5},
        "object without a name: kind: expected a string, got 5",
    ),
    ("no apiVersion", {"kind": "Pod", "metadata": {"name": "x", "namespace": "y"}}, "Pod y/x has no apiVersion"),
    (
        "an apiVersion that is no string",
        {"apiVersion": 1, "kind": "Pod", "metadata": {"name": "x"}},
        "Pod x: apiVersion: expected a string, got 1",
    ),
    (
        "a kind that is not read",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}},
        "ConfigMap x: kind ConfigMap (v1) is not one that scheduling reads",
    ),
    (
        "a known kind of another group",
        {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "x"}},
        "PodGroup x: apiVersion: expected scheduling.k8s.io/v1alpha2, got scheduling.volcano.sh/v1beta1",
    ),
    (
        "a version in which the kind had another shape",
        {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "x"}},
        "ResourceClaim x: apiVersion resource.k8s.io/v1beta1 has another shape; write it as resource.k8s.io/v1",
    ),
    (
        "a key that is no string, as YAML allows",
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {1: "a"}}},
        "Node n: metadata.labels: expected strings as keys, got 1",
    ),
    (
        "a field name that is no string",
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, 1: "a"},
        "Node n: expected strings as keys, got 1",
    ),
]


@pytest.mark.parametrize(
    ("document", "sentence"), [case[1:] for case in BAD_DOCUMENTS], ids=[case[0] for case in BAD_DOCUMENTS]
)
def test_a_document_that_is_no_known_object_is_refused(document: Any, sentence: str) -> None:
    with pytest.raises(InvalidObjectError) as error:
        decode(document)
    assert str(error.value) == sentence
    with pytest.raises(InvalidObjectError) as error:
        decode(document, "nodes.yaml, document 2")
    assert str(error.value) == f"nodes.yaml, document 2: {sentence}"


@pytest.mark.parametrize("data", [b"", b"{", b"[1", b'{"metadata": {"name": "a\xff}}', b"nonsense"])
def test_bytes_that_are_no_json_are_refused_with_the_kind(data: bytes) -> None:
    with pytest.raises(InvalidObjectError, match=r"^Pod: "):
        decode_json(Pod, data)


@pytest.mark.parametrize(
    "written", [b"a\xffb", b"a\\ud800b", b"a\\udc00b"], ids=["no UTF-8", "first half", "last half"]
)
def test_what_stands_for_no_character_is_replaced_as_go_does(written: bytes) -> None:
    pod = decode_json(Pod, b'{"metadata": {"name": "%s", "labels": {"%s": "\\ud83d\\ude00"}}}' % (written, written))
    assert pod.name == "a\ufffdb"
    assert pod.metadata.labels == {"a\ufffdb": "\U0001f600"}
    assert decode_json(Pod, encode(pod)).metadata == pod.metadata


@pytest.mark.parametrize(
    "deep",
    [b"[" * 1_000_000 + b"]" * 1_000_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"[{" * 5000 + b"}]" * 5000],
    ids=["lists", "objects", "both"],
)
def test_fields_that_are_not_known_may_be_of_any_depth(deep: bytes) -> None:
    pod = decode_json(Pod, b'{"x": %s, "metadata": {"name": "a", "y": %s}, "z": {"z": %s}}' % (deep, deep, deep))
    assert pod.name == "a"


def test_json_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(InvalidObjectError, match=r"^Pod: expected a mapping, got a list$"):
        decode_json(Pod, b"[]")


def test_any_version_of_the_right_group_will_do() -> None:
    for api_version in ("policy/v1", "policy/v1beta1"):
        budget = decode(a_document("PodDisruptionBudget", apiVersion=api_version, spec={"maxUnavailable": "30%"}))
        assert isinstance(budget, PodDisruptionBudget)
        assert budget.spec.max_unavailable == "30%"


def test_unknown_fields_are_skipped_and_lists_are_tuples() -> None:
    pod = decode(a_document(spec={"hostname": "h", "containers": [{"name": "c", "stdin": True}]}, extra={"a": [1]}))
    assert isinstance(pod, Pod)
    assert pod.spec.containers == (Container(name="c"),)


def test_items_of_lists_decode_without_kind_and_get_it_back_when_written() -> None:
    node = decode_json(Node, b'{"metadata": {"name": "n"}}')
    assert (node.kind, node.name) == ("", "n")
    assert to_builtins(node) == {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-01-31T12:00:00Z", datetime(2024, 1, 31, 12, tzinfo=UTC)),
        ("2024-01-31T12:00:00.25Z", datetime(2024, 1, 31, 12, 0, 0, 250_000, tzinfo=UTC)),
        ("2024-01-31T12:00:00.123456Z", datetime(2024, 1, 31, 12, 0, 0, 123_456, tzinfo=UTC)),
        ("2024-01-31T12:00:00.123456789Z", datetime(2024, 1, 31, 12, 0, 0, 123_457, tzinfo=UTC)),
        ("2024-01-31T12:00:00+02:00", datetime(2024, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_times_parse_with_and_without_fractions(text: str, time: datetime) -> None:
    assert decode(a_document(metadata={"name": "p", "creationTimestamp": text})).metadata.creation_timestamp == time


def test_a_time_that_yaml_already_parsed_is_taken_as_it_is() -> None:
    time = datetime(2024, 1, 31, 12, tzinfo=UTC)
    assert decode(a_document(metadata={"name": "p", "creationTimestamp": time})).metadata.creation_timestamp == time


def test_micro_times_always_have_six_digits_and_other_times_do_not() -> None:
    noon = datetime(2024, 1, 31, 12, tzinfo=UTC)
    lease = Lease(
        metadata=ObjectMeta(name="l", creation_timestamp=noon),
        spec=LeaseSpec(acquire_time=noon, renew_time=noon + timedelta(milliseconds=5)),
    )
    document = to_builtins(lease)
    assert document["metadata"]["creationTimestamp"] == "2024-01-31T12:00:00Z"
    assert document["spec"] == {
        "acquireTime": "2024-01-31T12:00:00.000000Z",
        "renewTime": "2024-01-31T12:00:00.005000Z",
    }
    assert json.loads(encode(lease)) == document
    event = Event(metadata=ObjectMeta(name="e"), event_time=noon, series=EventSeries(count=2, last_observed_time=noon))
    document = json.loads(encode(event))
    assert document["eventTime"] == document["series"]["lastObservedTime"] == "2024-01-31T12:00:00.000000Z"
    assert to_builtins(Lease(metadata=ObjectMeta(name="l"))) == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l"},
    }


def test_names_with_acronyms_are_written_as_go_writes_them() -> None:
    document = a_document("CSINode", spec={"drivers": [{"name": "d", "nodeID": "i", "topologyKeys": ["zone"]}]})
    csi_node = decode(document)
    assert isinstance(csi_node, CSINode)
    assert csi_node.spec.drivers[0].node_id == "i"
    assert to_builtins(csi_node) == document


def test_an_empty_list_of_attribute_values_is_a_value() -> None:
    attributes: dict[str, Any] = {"empty": {"ints": []}, "absent": {}}
    resource_slice: Any = decode(a_document("ResourceSlice", spec={"devices": [{"attributes": attributes}]}))
    assert resource_slice.spec.devices[0].attributes == {
        "empty": DeviceAttribute(int_values=()),
        "absent": DeviceAttribute(),
    }


def test_defaults_are_left_out_and_what_is_set_to_zero_is_not() -> None:
    pod = Pod(api_version="v1", kind="Pod", metadata=ObjectMeta(name="p"), spec=PodSpec(priority=0, node_name=""))
    assert to_builtins(pod) == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"priority": 0}}


def test_objects_cannot_be_changed() -> None:
    pod: ApiObject = decode(a_document())
    with pytest.raises(AttributeError):
        pod.kind = "Node"  # type: ignore[misc]


def test_texts_that_cannot_be_written_are_mended() -> None:
    body = {"note": "a\ud800b", "\udfff": ["\ud800", 1, None], "good": "\U0001f600"}
    written = json.loads(tolerant_json.encode(body))
    assert written == {"note": "a\ufffdb", "\ufffd": ["\ufffd", 1, None], "good": "\U0001f600"}


def test_plain_values_of_kinds_that_plugins_define_are_mended() -> None:
    class Defined(ApiObject, frozen=True):
        spec: object = None

    found = decode_json(Defined, b'{"metadata": {"name": "a"}, "spec": {"a": ["\\ud800", {"\\udc00": 1.5}]}}')
    assert found.spec == {"a": ["\ufffd", {"\ufffd": 1.5}]}
    with pytest.raises(InvalidObjectError, match=r"^Defined a: JSON is nested too deep$"):
        decode_json(Defined, b'{"metadata": {"name": "a"}, "spec": %s}' % (b"[" * 100_000 + b"]" * 100_000))
