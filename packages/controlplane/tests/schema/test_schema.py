"""Shapes: what is stored of a body, and what is said of one that is wrong, in the words of kube-apiserver v1.36."""

import json
from typing import Any

import pytest

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.schema import IGNORE, STRICT, WARN, Schemas, decoder_of, library
from kubesched_controlplane.schema.notation import Library, NotationError
from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Shape
from kubesched_controlplane.schema.strict_decoder import ShapeError
from kubesched_controlplane.server.catalog import RESOURCES, built_in

CATALOG = built_in()
SCHEMAS = Schemas()


def resource(kind: str, api_version: str = "v1") -> Resource:
    found = CATALOG.of_kind(api_version, kind)
    assert found is not None
    return found


def a_pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], **spec}}


def stored(document: Any, kind: str = "Pod", api_version: str = "v1") -> Any:
    """Return what is kept of a document that nobody minds."""
    found, warnings = SCHEMAS.decode(resource(kind, api_version), json.dumps(document).encode(), STRICT)
    assert warnings == []
    return found


def refusal(body: Any, kind: str = "Pod", api_version: str = "v1", validation: str = WARN) -> str:
    """Return the message of a body's refusal."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(ApiError) as caught:
        SCHEMAS.decode(resource(kind, api_version), raw, validation)
    assert (caught.value.code, caught.value.reason) == (400, "BadRequest")
    return caught.value.message


def path(document: Any, *steps: str | int) -> Any:
    for step in steps:
        document = document[step]
    return document


# -- the shapes


def test_all_that_is_served_has_a_shape() -> None:
    missing = [each.kind for each in RESOURCES if SCHEMAS.for_kind(each.api_version, each.kind) is None]
    assert missing == []
    assert all(SCHEMAS.shape(each).is_kind for each in RESOURCES)


def test_bodies_of_subresources_have_shapes() -> None:
    for api_version, kind in (("policy/v1", "Eviction"), ("autoscaling/v1", "Scale"), ("v1", "Binding")):
        shape = SCHEMAS.for_kind(api_version, kind)
        assert shape is not None
        assert shape.name == kind
    assert SCHEMAS.for_kind("v1", "Nothing") is None
    assert SCHEMAS.for_kind("v2", "Pod") is None
    assert SCHEMAS.for_kind("v1", "PodSpec") is None


def test_every_type_that_is_named_is_written_down() -> None:
    assert len(library().shapes()) > 380


def test_merge_keys_are_fields_of_their_elements() -> None:
    for shape in library().shapes():
        for field in shape.fields.values():
            element = field.type.element if isinstance(field.type, ListType) else field.type
            for key in filter(None, (field.merge_key, *field.map_keys)):
                assert isinstance(element, Shape), (shape.name, field.name)
                assert key in element.fields, (shape.name, field.name)


def field_of(kind: str, *names: str) -> Field:
    type_: Any = SCHEMAS.shape(resource(kind))
    for name in names:
        while isinstance(type_, ListType | MapType):
            type_ = type_.element if isinstance(type_, ListType) else type_.value
        field: Field = type_.fields[name]
        type_ = field.type
    return field


@pytest.mark.parametrize(
    ("what", "field", "expected"),
    [
        (
            "containers merge by their names",
            ("spec", "containers"),
            ("map", ("name",), "name", {"merge"}, "[]v1.Container"),
        ),
        (
            "volumes keep only what is named",
            ("spec", "volumes"),
            ("map", ("name",), "name", {"merge", "retainKeys"}, "[]v1.Volume"),
        ),
        (
            "ports are owned by port and protocol, and merge by port alone",
            ("spec", "containers", "ports"),
            ("map", ("containerPort", "protocol"), "containerPort", {"merge"}, "[]v1.ContainerPort"),
        ),
        ("tolerations are one", ("spec", "tolerations"), ("atomic", (), "", set(), "[]v1.Toleration")),
        ("finalizers merge as a set", ("metadata", "finalizers"), ("set", (), "", {"merge"}, "[]string")),
        ("a map can be one, too", ("spec", "nodeSelector"), ("atomic", (), "", set(), "map[string]string")),
    ],
)
def test_how_lists_are_owned_and_merged(what: str, field: tuple[str, ...], expected: tuple[Any, ...]) -> None:
    found = field_of("Pod", *field)
    facts = (found.list_type, found.map_keys, found.merge_key, set(found.strategies), found.type.go)
    assert facts == expected, what


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a line that is nothing", "Thing"),
        ("a type that is not written down", "Thing: a Nothing"),
        ("a field that is nothing", "Thing: a string (b)"),
        ("a list of nothing", "Thing: a []"),
    ],
)
def test_notation_that_is_wrong_is_an_error(what: str, text: str) -> None:
    with pytest.raises(NotationError):
        Library((("v1", text),)).shapes()


# -- what is stored


@pytest.mark.parametrize(
    ("what", "spec", "steps", "expected"),
    [
        (
            "half a core is 500 thousandths",
            {"overhead": {"cpu": "0.5", "memory": "1024Mi"}},
            ("overhead",),
            {"cpu": "500m", "memory": "1Gi"},
        ),
        ("numbers are quantities", {"overhead": {"cpu": 2, "x": 1.5}}, ("overhead",), {"cpu": "2", "x": "1500m"}),
        ("resource lists are rounded to thousandths", {"overhead": {"cpu": "1n"}}, ("overhead",), {"cpu": "1m"}),
        ("what Go takes for zero is left out", {"hostNetwork": False, "nodeName": ""}, ("nodeName",), None),
        ("what can be absent stays when it is zero", {"priority": 0}, ("priority",), 0),
        ("an empty list is left out", {"tolerations": []}, ("tolerations",), None),
        ("an empty map is left out", {"nodeSelector": {}}, ("nodeSelector",), None),
        ("an empty object that can be absent stays", {"securityContext": {}}, ("securityContext",), {}),
        ("null is absent", {"affinity": None, "priority": None, "nodeName": None}, ("affinity",), None),
        (
            "null in a map is an empty text",
            {"nodeSelector": {"a": None, "b": "c"}},
            ("nodeSelector",),
            {"a": "", "b": "c"},
        ),
        (
            "null in a list is an object without fields",
            {"tolerations": [None, {"key": "a"}]},
            ("tolerations",),
            [{}, {"key": "a"}],
        ),
        (
            "required fields are written, resources always",
            {"containers": [{}]},
            ("containers",),
            [{"name": "", "resources": {}}],
        ),
        (
            "a divisor is written, too",
            {
                "containers": [
                    {"name": "c", "env": [{"name": "e", "valueFrom": {"resourceFieldRef": {"resource": "cpu"}}}]}
                ]
            },
            ("containers", 0, "env", 0, "valueFrom", "resourceFieldRef"),
            {"resource": "cpu", "divisor": "0"},
        ),
        (
            "ports are numbers or texts",
            {"containers": [{"name": "c", "livenessProbe": {"tcpSocket": {"port": "web"}}}]},
            ("containers", 0, "livenessProbe", "tcpSocket"),
            {"port": "web"},
        ),
    ],
)
def test_what_is_kept_of_a_pod(what: str, spec: dict[str, Any], steps: tuple[str | int, ...], expected: Any) -> None:
    kept = stored(a_pod(**spec))["spec"]
    assert (path(kept, *steps) if steps[0] in kept else None) == expected, what


def test_fields_come_in_the_order_of_go_under_their_kind() -> None:
    found = stored({"status": {}, "spec": {"nodeName": "n", "containers": []}, "metadata": {"uid": "u", "name": "p"}})
    assert list(found) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert (found["kind"], found["apiVersion"], list(found["metadata"])) == ("Pod", "v1", ["name", "uid"])
    assert list(found["spec"]) == ["containers", "nodeName"]


@pytest.mark.parametrize(
    ("what", "time", "expected"),
    [
        ("a time is kept", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("in UTC", "2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
        ("to the second", "2026-01-02T03:04:05.999Z", "2026-01-02T03:04:05Z"),
        ("a leap day is a day", "2024-02-29T00:00:00-00:30", "2024-02-29T00:30:00Z"),
        ("an hour may have one digit", "2026-01-02T3:04:05Z", "2026-01-02T03:04:05Z"),
        ("the zero of times is none", "0001-01-01T00:00:00Z", None),
    ],
)
def test_times_are_kept_as_go_writes_them(what: str, time: str, expected: str | None) -> None:
    meta = stored({"metadata": {"creationTimestamp": time}}, "ConfigMap")["metadata"]
    assert meta.get("creationTimestamp") == expected, what


def test_times_to_the_microsecond() -> None:
    lease = {"spec": {"renewTime": "2026-01-02T03:04:05.000006+01:00", "acquireTime": "0001-01-01T00:00:00.000000Z"}}
    assert stored(lease, "Lease", "coordination.k8s.io/v1")["spec"] == {"renewTime": "2026-01-02T02:04:05.000006Z"}


def test_the_zero_of_times_stays_in_maps() -> None:
    status = {"disruptedPods": {"p": "0001-01-01T00:00:00Z"}}
    kept = stored({"status": status}, "PodDisruptionBudget", "policy/v1")["status"]
    assert kept["disruptedPods"] == status["disruptedPods"]


def test_secrets_are_base64() -> None:
    assert stored({"data": {"a": "aGk=", "b": "", "c": "aG\nk="}}, "Secret")["data"] == {
        "a": "aGk=",
        "b": "",
        "c": "aGk=",
    }


def test_what_is_opaque_is_kept_as_it_is() -> None:
    parameters = {"Any": [1, 2.5, None, {"null": None}], "": "x"}
    spec = {"config": [{"opaque": {"driver": "d", "parameters": parameters}}]}
    kept = stored({"spec": spec}, "DeviceClass", "resource.k8s.io/v1")
    assert path(kept, "spec", "config", 0, "opaque", "parameters") == parameters


def test_bytes_and_escapes_that_are_no_characters_are_replaced() -> None:
    body = b'{"data":{"a":"\xff","b":"\\ud800","c":"\\ud83d\\ude00","d":"\\\\ud800"}}'
    document, _ = SCHEMAS.decode(resource("ConfigMap"), body, STRICT)
    assert document["data"] == {"a": "\ufffd", "b": "\ufffd", "c": "😀", "d": "\\ud800"}


# -- what is refused

START = 'Pod in version "v1" cannot be handled as a Pod: '
FIELD = START + "json: cannot unmarshal {} into Go struct field {} of type {}"
SPEC = START + "json: cannot unmarshal {} into Go struct field PodSpec.spec.{} of type {}"
NO_QUANTITY = START + r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NO_TIME = START + 'parsing time "{}" as "2006-01-02T15:04:05Z07:00": cannot parse "{}" as "{}"'


@pytest.mark.parametrize(
    ("what", "document", "message"),
    [
        (
            "a text for a list",
            a_pod(containers="x"),
            SPEC.format("string", "containers", "[]v1.Container"),
        ),
        (
            "a number for an element",
            a_pod(containers=[1]),
            SPEC.format("number", "containers", "v1.Container"),
        ),
        ("a list for a map", a_pod(nodeSelector=[]), SPEC.format("array", "nodeSelector", "map[string]string")),
        ("a number in a map", a_pod(nodeSelector={"a": 1}), SPEC.format("number", "nodeSelector", "string")),
        ("a text for a truth", a_pod(hostNetwork="x"), SPEC.format("string", "hostNetwork", "bool")),
        ("a fraction", a_pod(priority=1.5), SPEC.format("number 1.5", "priority", "int32")),
        (
            "a number that is too large",
            a_pod(priority=2**31),
            SPEC.format("number 2147483648", "priority", "int32"),
        ),
        (
            "a named text",
            a_pod(restartPolicy={}),
            SPEC.format("object", "restartPolicy", "v1.RestartPolicy"),
        ),
        (
            "a named map",
            a_pod(overhead=True),
            SPEC.format("bool", "overhead", "v1.ResourceList"),
        ),
        (
            "a field of an embedded type",
            a_pod(volumes=[{"hostPath": {"path": 1}}]),
            FIELD.format("number", "HostPathVolumeSource.spec.volumes.VolumeSource.hostPath.path", "string"),
        ),
        (
            "a port",
            a_pod(containers=[{"livenessProbe": {"httpGet": {"port": True}}}]),
            FIELD.format("bool", "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port", "int32"),
        ),
        ("the first of two", a_pod(priority="x", nodeName=3), SPEC.format("string", "priority", "int32")),
        ("a quantity before all others", a_pod(priority="x", overhead={"cpu": "1z"}), NO_QUANTITY),
        ("an object for a quantity", a_pod(overhead={"cpu": {}}), NO_QUANTITY),
        ("a quantity's suffix", a_pod(overhead={"cpu": "1e"}), START + "unable to parse quantity's suffix"),
        ("no time", {"metadata": {"creationTimestamp": "x"}}, NO_TIME.format("x", "x", "2006")),
        ("a day alone", {"metadata": {"creationTimestamp": "2020-01-01"}}, NO_TIME.format("2020-01-01", "", "T")),
        (
            "a month that does not exist",
            {"metadata": {"creationTimestamp": "2020-13-01T00:00:00Z"}},
            START + 'parsing time "2020-13-01T00:00:00Z": month out of range',
        ),
        (
            "a day that does not exist",
            {"metadata": {"creationTimestamp": "2021-02-29T00:00:00Z"}},
            START + 'parsing time "2021-02-29T00:00:00Z": day out of range',
        ),
        (
            "a time with something after it",
            {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z "}},
            START + 'parsing time "2020-01-01T00:00:00Z ": extra text: " "',
        ),
        (
            "a number for a time",
            {"metadata": {"creationTimestamp": 1}},
            FIELD.format("number", "ObjectMeta.metadata.creationTimestamp", "string"),
        ),
        ("a number for metadata", {"metadata": 1}, FIELD.format("number", "Pod.metadata", "v1.ObjectMeta")),
    ],
)
def test_values_of_the_wrong_type(what: str, document: Any, message: str) -> None:
    assert refusal(document) == message, what


UNRECOGNIZED = "the object provided is unrecognized (must be of type Pod): "
KIND_ALONE = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


@pytest.mark.parametrize(
    ("what", "body", "problem", "shown"),
    [
        ("nothing", b"", "unexpected end of JSON input", "<empty>"),
        ("a letter", b"x", "invalid character 'x' looking for beginning of value", "78"),
        ("half an object", b'{"a"', "unexpected end of JSON input", '{"a"'),
        (
            "a comma too many",
            b'{"a":1,}',
            "invalid character '}' looking for beginning of object key string",
            '{"a":1,}',
        ),
        ("two objects", b"{}{}", "invalid character '{' after top-level value", "{}{}"),
        ("a list", b"[]", f"json: cannot unmarshal array into Go value of type {KIND_ALONE}", "5b5d"),
        (
            "a kind that is no text",
            b'{"kind":1}',
            "json: cannot unmarshal number into Go struct field .kind of type string",
            '{"kind":1}',
        ),
        (
            "more than 30 bytes",
            b'{"metadata":{"name":"a-long-name"',
            "unexpected end of JSON input",
            '{"metadata":{"name":"a-long-na ...',
        ),
        ("a list without end", b"[" * 100_000, "invalid character '[' exceeded max depth", "5b" * 30 + " ..."),
    ],
)
def test_bodies_that_do_not_say_what_they_are(what: str, body: bytes, problem: str, shown: str) -> None:
    expected = f"{UNRECOGNIZED}couldn't get version/kind; json parse error: {problem} ({shown})"
    assert refusal(body) == expected, what


NO_KIND = 'no kind "{}" is registered for version "{}" in scheme "pkg/api/legacyscheme/scheme.go:30"'


@pytest.mark.parametrize(
    ("what", "body", "start", "problem"),
    [
        ("another kind", b'{"kind":"Service"}', "Service", "converting (v1.Service) to (core.Pod): unknown conversion"),
        ("under a name in capitals", b'{"Kind":"Service"}', "Service", "converting (v1.Service) to (core.Pod): unk"),
        ("its list", b'{"kind":"PodList"}', "PodList", "converting (v1.PodList) to (core.Pod): unknown conversion"),
        ("no kind", b'{"kind":"Foo"}', "Foo", NO_KIND.format("Foo", "v1")),
        ("a type that is no kind", b'{"kind":"PodSpec"}', "PodSpec", NO_KIND.format("PodSpec", "v1")),
        ("another group", b'{"apiVersion":"apps/v1"}', "Pod", NO_KIND.format("Pod", "apps/v1")),
    ],
)
def test_bodies_of_another_kind(what: str, body: bytes, start: str, problem: str) -> None:
    assert refusal(body).startswith(f'{start} in version "v1" cannot be handled as a Pod: {problem}'), what


def test_a_version_of_three_parts() -> None:
    words = 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'
    assert refusal(b'{"apiVersion":"a/b/c"}') == UNRECOGNIZED + words


def test_an_event_of_the_other_group() -> None:
    other = {"kind": "Event", "apiVersion": "events.k8s.io/v1"}
    message = "the API version in the data (events.k8s.io/v1) does not match the expected API version (v1)"
    assert refusal(other, "Event") == message


@pytest.mark.parametrize("validation", [STRICT, WARN, IGNORE])
def test_a_body_may_leave_out_its_kind_or_everything(validation: str) -> None:
    for body in (b"{}", b"null", b" { } ", b'{"kind":"","apiVersion":""}', b'{"kind":null}'):
        document, warnings = SCHEMAS.decode(resource("Pod"), body, validation)
        assert (document["kind"], document["metadata"], warnings) == ("Pod", {}, [])


def test_an_object_deep_in_what_is_opaque_is_refused() -> None:
    deep = b'{"a":' * 250 + b"1" + b"}" * 250
    body = b'{"spec":{"config":[{"opaque":{"driver":"d","parameters":' + deep + b"}}]}}"
    assert "exceeded max depth" in refusal(body, "DeviceClass", "resource.k8s.io/v1")
    brackets = b'{"data":{"a":"' + b"[{" * 1000 + b'\\"]"}}'
    assert SCHEMAS.decode(resource("ConfigMap"), brackets, STRICT)[0]["data"]["a"].startswith("[{[{")


# -- unknown and double fields

DOUBTFUL = (
    b'{"metadata":{"name":"a","name":"b","labels":{"x":"1","x":"2"}},'
    b'"spec":{"foo":1,"containers":[{"name":"c","zz":1,"zz":2}],"Containers":{"a":1,"a":2}}}'
)
DOUBTS = [
    'duplicate field "metadata.name"',
    'duplicate field "metadata.labels.x"',
    'unknown field "spec.foo"',
    'unknown field "spec.containers[0].zz"',
    'unknown field "spec.Containers"',
]


def test_warnings_are_given_and_the_fields_dropped() -> None:
    document, warnings = SCHEMAS.decode(resource("Pod"), DOUBTFUL, WARN)
    assert warnings == DOUBTS
    assert document["metadata"] == {"name": "b", "labels": {"x": "2"}}
    assert document["spec"] == {"containers": [{"name": "c", "resources": {}}]}


def test_nothing_is_said_when_it_is_to_be_ignored() -> None:
    expected = SCHEMAS.decode(resource("Pod"), DOUBTFUL, WARN)[0]
    assert SCHEMAS.decode(resource("Pod"), DOUBTFUL, IGNORE) == (expected, [])


def test_a_strict_reader_refuses() -> None:
    assert refusal(DOUBTFUL, validation=STRICT) == START + "strict decoding error: " + ", ".join(DOUBTS)


@pytest.mark.parametrize(
    ("what", "body", "doubts"),
    [
        ("a space before the colon", b'{"metadata":{"name" :"a","name":"b"}}', ['duplicate field "metadata.name"']),
        ("an escaped name", b'{"metadata":{"name":"a","n\\u0061me":"b"}}', ['duplicate field "metadata.name"']),
        (
            "a text that looks like a field",
            b'{"metadata":{"name":"a\\u0022:b","name":"\\":"}}',
            ['duplicate field "metadata.name"'],
        ),
        ("such a text alone", b'{"metadata":{"name":"a\\":b\\u0022:"}}', []),
        ("a name with quotes", b'{"spec":{"a\\"b\\n":1}}', ['unknown field "spec.a\\"b\\n"']),
        ("a field twice that is unknown", b'{"foo":1,"foo":2}', ['unknown field "foo"']),
        ("nothing twice in what is unknown", b'{"foo":{"a":1,"a":2}}', ['unknown field "foo"']),
    ],
)
def test_doubts_in_an_unusual_hand(what: str, body: bytes, doubts: list[str]) -> None:
    assert SCHEMAS.decode(resource("Pod"), body, WARN)[1] == doubts, what


def test_no_more_than_a_hundred_doubts() -> None:
    body = json.dumps({f"field{number}": 1 for number in range(200)}).encode()
    assert len(SCHEMAS.decode(resource("Pod"), body, WARN)[1]) == 100


# -- bodies of another kind than their resource, documents that were put together


def test_a_binding_is_read_by_its_own_shape() -> None:
    shape = SCHEMAS.for_kind("v1", "Binding")
    assert shape is not None
    decoder = decoder_of(shape)
    document, _ = decoder.decode(b'{"metadata":{"name":"p"},"target":{"name":"n"}}', strict=True)
    assert document["target"] == {"name": "n"}
    with pytest.raises(ShapeError, match=r"string into Go struct field Binding\.target of type v1\.ObjectReference"):
        decoder.decode(b'{"target":"n"}', strict=True)


def test_delete_options_are_known_in_every_group() -> None:
    shape = SCHEMAS.for_kind("meta.k8s.io/v1", "DeleteOptions")
    assert shape is not None
    for version in ("v1", "apps/v1", "meta.k8s.io/v1"):
        body = json.dumps({"kind": "DeleteOptions", "apiVersion": version, "gracePeriodSeconds": 0}).encode()
        assert decoder_of(shape).decode(body, strict=True)[0]["gracePeriodSeconds"] == 0
    with pytest.raises(ShapeError, match=r"converting \(v1.Pod\) to \(meta.DeleteOptions\): unknown conversion"):
        decoder_of(shape).decode(b'{"kind":"Pod","apiVersion":"v1"}', strict=True)


def test_a_document_that_was_put_together_is_checked() -> None:
    pod = a_pod(overhead={"cpu": 2}, foo=1)
    document, warnings = SCHEMAS.check(resource("Pod"), pod, WARN)
    assert (document["spec"]["overhead"], warnings) == ({"cpu": "2"}, ['unknown field "spec.foo"'])
    assert "foo" in pod["spec"]
    wrongs: list[Any] = [[], 1, None, {"kind": []}, {"spec": 1}, {"kind": "Service"}]
    for wrong in wrongs:
        with pytest.raises(ApiError) as caught:
            SCHEMAS.check(resource("Pod"), wrong, WARN)
        assert caught.value.code == 400
