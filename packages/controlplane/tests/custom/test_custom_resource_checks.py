"""What is wrong with definitions, and with objects of the kinds that they define."""

from typing import Any

import msgspec
import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api, damaged

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.server.server import ApiServer

Document = dict[str, Any]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FOOS = "/apis/example.com/v1/namespaces/default/foos"
MERGE = "application/merge-patch+json"
SCHEMA = "spec.validation.openAPIV3Schema"
LIST_TYPE, MAP_KEYS, MAP_TYPE = (f"x-kubernetes-{name}" for name in ("list-type", "list-map-keys", "map-type"))
PRESERVE, EMBEDDED, INT_OR_STRING, RULES = (
    f"x-kubernetes-{name}" for name in ("preserve-unknown-fields", "embedded-resource", "int-or-string", "validations")
)


def of_spec(**fields: Any) -> Document:
    """Return a schema with fields in the spec."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}


def a_version(schema: Any = None, name: str = "v1", storage: bool = True, **more: Any) -> Document:
    schema = {"type": "object"} if schema is None else schema
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def a_definition(*versions: Document, **spec: Any) -> Document:
    names = {"plural": "foos", "kind": "Foo"}
    found = {"group": "example.com", "names": names, "scope": "Namespaced", "versions": list(versions), **spec}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": found,
    }


LABEL = "a DNS-1035 label must consist of lower case alphanumeric characters or '-'"
KEYED = {"type": "array", LIST_TYPE: "map", MAP_KEYS: ["k"]}
BAD: list[tuple[str, Document, str]] = [
    ("no group", a_definition(a_version(), group=""), "spec.group: Required value"),
    (
        "a group without a dot",
        a_definition(a_version(), group="example"),
        'spec.group: Invalid value: "example": should be a domain with at least one dot',
    ),
    (
        "a name that is another's",
        a_definition(a_version(), group="other.com"),
        'metadata.name: Invalid value: "foos.example.com": must be spec.names.plural+"."+spec.group',
    ),
    (
        "a group of Kubernetes",
        a_definition(a_version(), group="x.k8s.io"),
        "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval",
    ),
    (
        "no such scope",
        a_definition(a_version(), scope="Else"),
        'spec.scope: Unsupported value: "Else": supported values: "Cluster", "Namespaced"',
    ),
    (
        "no version",
        a_definition(),
        "spec.versions: Invalid value: []: must have exactly one version marked as storage version",
    ),
    (
        "two that are stored",
        a_definition(a_version(), a_version(name="v2")),
        "must have exactly one version marked as storage version",
    ),
    (
        "a version twice",
        a_definition(a_version(), a_version(storage=False)),
        "must contain unique version names",
    ),
    (
        "no name of a version",
        a_definition(a_version(name="V1")),
        f'spec.versions[0].name: Invalid value: "V1": {LABEL}',
    ),
    (
        "no schema",
        a_definition({"name": "v1", "served": True, "storage": True}),
        "spec.versions[0].schema.openAPIV3Schema: Required value",
    ),
    (
        "names that are none",
        a_definition(a_version(), names={"plural": "foos", "kind": "A_b", "shortNames": ["B"]}),
        f'spec.names.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: {LABEL}',
    ),
    (
        "a kind that is its list",
        a_definition(a_version(), names={"plural": "foos", "kind": "Foo", "listKind": "Foo"}),
        'spec.names.listKind: Invalid value: "Foo": kind and listKind may not be the same',
    ),
    (
        "no such conversion",
        a_definition(a_version(), conversion={"strategy": "Magic"}),
        'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
    ),
    (
        "a webhook without a place",
        a_definition(a_version(), conversion={"strategy": "Webhook"}),
        "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
    ),
    (
        "unknown fields for all",
        a_definition(a_version(), preserveUnknownFields=True),
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true",
    ),
    (
        "a scale elsewhere",
        a_definition(a_version(subresources={"scale": {"specReplicasPath": ".x.y", "statusReplicasPath": ""}})),
        'spec.subresources.scale.specReplicasPath: Invalid value: ".x.y": should be a json path under .spec',
    ),
    (
        "a column of no type",
        a_definition(a_version(additionalPrinterColumns=[{"name": "a", "type": "x", "jsonPath": ".a"}])),
        'spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
    ),
    (
        "a field that cannot be selected",
        a_definition(a_version(of_spec(a={"type": "number"}), selectableFields=[{"jsonPath": ".spec.a"}])),
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.a": must point to a field of type string',
    ),
    (
        "a warning for nothing",
        a_definition(a_version(deprecationWarning="x")),
        'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
    ),
    (
        "schemas that differ are told apart",
        a_definition(a_version(of_spec(a={})), a_version(of_spec(b={}), "v2", False)),
        "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[b].type: Required value: must not be",
    ),
]


@pytest.mark.parametrize(("document", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_definitions_that_are_refused(document: Document, words: str) -> None:
    code, reason, message = an_api().refused("POST", DEFINITIONS, document)
    assert (code, reason) == (422, "Invalid")
    assert words in message


IN_SPEC = f"{SCHEMA}.properties[spec].properties[a]"
BAD_SCHEMAS: list[tuple[str, Document, str]] = [
    ("no type at all", {}, f"{SCHEMA}.type: Required value: must not be empty at the root"),
    ("a text at the root", {"type": "string"}, f'{SCHEMA}.type: Invalid value: "string": must be object at the root'),
    (
        "null at the root",
        {"type": "object", "nullable": True},
        f"{SCHEMA}.nullable: Forbidden: nullable cannot be true",
    ),
    (
        "a field without a type",
        of_spec(a={}),
        f"{IN_SPEC}.type: Required value: must not be empty for specified object",
    ),
    ("no such type", of_spec(a={"type": "x"}), f'{IN_SPEC}.type: Unsupported value: "x": supported values: "array", '),
    ("a list of nothing", of_spec(a={"type": "array"}), f"{IN_SPEC}.items: Required value: must be specified"),
    (
        "a list of several things",
        of_spec(a={"type": "array", "items": [{"type": "string"}]}),
        f"{IN_SPEC}.items: Forbidden: items must be a schema object and not an array",
    ),
    (
        "fields and keys",
        of_spec(
            a={"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": {"type": "string"}}
        ),
        f"{IN_SPEC}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
    ),
    (
        "keys at the root",
        {"type": "object", "additionalProperties": True},
        f"{SCHEMA}.additionalProperties: Forbidden: must not be used at the root",
    ),
    (
        "each once",
        of_spec(a={"type": "array", "uniqueItems": True, "items": {"type": "string"}}),
        f"{IN_SPEC}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity",
    ),
    (
        "a type within alternatives",
        of_spec(a={"type": "string", "anyOf": [{"type": "string"}]}),
        f"{IN_SPEC}.anyOf[0].type: Forbidden: must be empty to be structural",
    ),
    (
        "a default within alternatives",
        of_spec(a={"type": "string", "oneOf": [{"default": "x"}]}),
        f"{IN_SPEC}.oneOf[0].default: Forbidden: must be undefined to be structural",
    ),
    (
        "a field in alternatives alone",
        {"type": "object", "oneOf": [{"properties": {"x": {"pattern": "x"}}}]},
        f"{SCHEMA}.properties[x]: Required value: because it is defined in {SCHEMA}.oneOf[0].properties[x]",
    ),
    (
        "no pattern",
        of_spec(a={"type": "string", "pattern": "("}),
        f'{IN_SPEC}.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp',
    ),
    ("a reference", of_spec(a={"$ref": "#/x"}), f"{IN_SPEC}.$ref: Forbidden: $ref is not supported"),
    (
        "metadata of its own",
        {
            "type": "object",
            "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}},
        },
        f"{SCHEMA}.properties[metadata]: Forbidden: must not specify anything other than name and generateName",
    ),
    (
        "a kind that is a number",
        {"type": "object", "properties": {"kind": {"type": "integer"}}},
        f'{SCHEMA}.properties[kind].type: Invalid value: "integer": must be string',
    ),
    (
        "fields that are not preserved",
        of_spec(a={"type": "object", PRESERVE: False}),
        f"{IN_SPEC}.{PRESERVE}: Invalid value: false: must be true or undefined",
    ),
    (
        "a resource of which nothing is known",
        of_spec(a={"type": "object", EMBEDDED: True}),
        f"{IN_SPEC}.properties: Required value: must not be empty if {EMBEDDED} is true without {PRESERVE}",
    ),
    (
        "a number or a text that is an object",
        of_spec(a={INT_OR_STRING: True, PRESERVE: True}),
        f"{IN_SPEC}.{PRESERVE}: Invalid value: true: must be false if {INT_OR_STRING} is true",
    ),
    (
        "keys of what are no objects",
        of_spec(a={**KEYED, "items": {"type": "string"}}),
        f'{IN_SPEC}.items.type: Invalid value: "string": must be object if parent array\'s {LIST_TYPE} is map',
    ),
    (
        "a key that is not there",
        of_spec(a={**KEYED, "items": {"type": "object"}}),
        f'{IN_SPEC}.{MAP_KEYS}: Invalid value: ["k"]: entries must all be names of item properties',
    ),
    (
        "a key that may be missing",
        of_spec(a={**KEYED, "items": {"type": "object", "properties": {"k": {"type": "string"}}}}),
        f"{IN_SPEC}.items.properties[k].default: Required value: this property is in {MAP_KEYS}, so it must have",
    ),
    (
        "no keys",
        of_spec(a={"type": "array", LIST_TYPE: "map", "items": {"type": "object"}}),
        f"{IN_SPEC}.{MAP_KEYS}: Required value: must not be empty if {LIST_TYPE} is map",
    ),
    (
        "a set of objects with parts",
        of_spec(a={"type": "array", LIST_TYPE: "set", "items": {"type": "object"}}),
        f"{IN_SPEC}.items.{MAP_TYPE}: Invalid value: null: must be atomic as item of a list with {LIST_TYPE}=set",
    ),
    (
        "no such list",
        of_spec(a={"type": "array", LIST_TYPE: "x", "items": {"type": "string"}}),
        f'{IN_SPEC}.{LIST_TYPE}: Unsupported value: "x": supported values: "atomic", "set", "map"',
    ),
    (
        "a map that is a text",
        of_spec(a={"type": "string", MAP_TYPE: "atomic"}),
        f'{IN_SPEC}.type: Invalid value: "string": must be object if {MAP_TYPE} is specified',
    ),
    (
        "a default of another type",
        of_spec(a={"type": "string", "default": 1}),
        f'{IN_SPEC}.default: Invalid value: "integer":  in body must be of type string: "integer"',
    ),
    (
        "a default with unknown fields",
        of_spec(a={"type": "object", "default": {"x": 1}}),
        f'{IN_SPEC}.default: Invalid value: {{"x":1}}: must not have unknown fields',
    ),
    (
        "a rule about nothing",
        of_spec(a={"type": "object", RULES: [{"rule": "self.b > 1"}]}),
        "compilation failed: ERROR: <input>:1:5: undefined field 'b'",
    ),
    (
        "a rule that is no question",
        of_spec(a={"type": "integer", RULES: [{"rule": "self + 1"}]}),
        "cel expression must evaluate to a bool",
    ),
    ("an empty rule", of_spec(a={"type": "integer", RULES: [{"rule": " "}]}), "Required value: rule is not specified"),
    (
        "a message that is a number",
        of_spec(a={"type": "integer", RULES: [{"rule": "self > 1", "messageExpression": "self"}]}),
        "messageExpression must evaluate to a string",
    ),
    (
        "a rule about elements that cannot be told apart",
        of_spec(a={"type": "array", "items": {"type": "integer", RULES: [{"rule": "self == oldSelf"}]}}),
        f"oldSelf cannot be used on the uncorrelatable portion of the schema within {IN_SPEC}",
    ),
]


@pytest.mark.parametrize(("schema", "words"), [case[1:] for case in BAD_SCHEMAS], ids=[case[0] for case in BAD_SCHEMAS])
def test_schemas_that_are_refused(schema: Document, words: str) -> None:
    code, _, message = an_api().refused("POST", DEFINITIONS, a_definition(a_version(schema)))
    assert code == 422
    assert words in message


def test_schemas_of_a_wrong_shape() -> None:
    api = an_api()
    schema = of_spec(a={"type": "string", "colour": 1}, b={"type": "array", "items": {"type": "string", "colour": 1}})
    message = api.refused("POST", DEFINITIONS, a_definition(a_version(schema)), fieldValidation="Strict")[2]
    assert message.endswith(
        'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.colour"'
    )
    made = api.ok("POST", DEFINITIONS, a_definition(a_version(schema)))
    fields = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert fields == {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}}
    wrong = of_spec(a={"type": "object", "additionalProperties": "x"})
    assert api.refused("POST", DEFINITIONS, a_definition(a_version(wrong)))[2] == (
        'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
        "boolean or JSON schema expected"
    )


def test_formats_that_nobody_knows_are_warned_of() -> None:
    api = an_api()
    body = a_definition(a_version(of_spec(a={"type": "string", "format": "poem"})))
    assert api.raw("POST", DEFINITIONS, msgspec.json.encode(body)).headers["Warning"] == (
        '299 - "unrecognized format \\"poem\\""'
    )


# -- objects


FIELDS: Document = {
    "count": {"type": "integer", "minimum": 0, "maximum": 10, "multipleOf": 2},
    "small": {"type": "integer", "format": "int32"},
    "share": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1000000.5},
    "size": {"type": "string", "enum": ["S", "L"]},
    "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
    "on": {"type": "boolean"},
    "tags": {"type": "array", LIST_TYPE: "set", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    "ports": {
        **KEYED,
        "items": {
            "type": "object",
            "required": ["k"],
            "properties": {"k": {"type": "string"}, "v": {"type": "integer"}},
        },
    },
    "labels": {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1},
    "either": {INT_OR_STRING: True},
    "nothing": {"type": "string", "nullable": True},
    "one": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "far": {"type": "integer", "anyOf": [{"minimum": 10}, {"maximum": 2}]},
    "near": {"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 5}]},
    "other": {"type": "integer", "not": {"enum": [5]}},
    "pod": {"type": "object", EMBEDDED: True, PRESERVE: True},
    **{name: {"type": "string", "format": name} for name in ("ipv4", "ipv6", "cidr", "date-time", "date", "uuid")},
    **{name: {"type": "string", "format": name} for name in ("email", "uri", "hostname", "duration", "byte", "mac")},
}
VALUES: list[tuple[str, Any, str]] = [
    ("count", 4, ""),
    ("count", "x", 'Invalid value: "string": spec.count in body must be of type integer: "string"'),
    ("count", 12, "Invalid value: 12: spec.count in body should be less than or equal to 10"),
    ("count", -2, "Invalid value: -2: spec.count in body should be greater than or equal to 0"),
    ("count", 3, "Invalid value: 3: spec.count in body should be a multiple of 2"),
    ("count", 1.5, 'Invalid value: "number": spec.count in body must be of type integer: "number"'),
    ("small", 2**31, '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.small'),
    ("share", 0, "Invalid value: 0: spec.share in body should be greater than 0"),
    (
        "share",
        2000000.5,
        "Invalid value: 2.0000005e+06: spec.share in body should be less than or equal to 1.0000005e+06",
    ),
    ("share", 1, ""),
    ("size", "M", 'Unsupported value: "M": supported values: "S", "L"'),
    ("name", "a", 'Invalid value: "a": spec.name in body should be at least 2 chars long'),
    ("name", "abcde", "Too long: may not be more than 4 bytes"),
    ("name", "A1", "Invalid value: \"A1\": spec.name in body should match '^[a-z]+$'"),
    ("on", "true", 'Invalid value: "string": spec.on in body must be of type boolean: "string"'),
    ("tags", [], "Invalid value: 0: spec.tags in body should have at least 1 items"),
    ("tags", ["a", "b", "c", "d"], "Too many: 4: must have at most 3 items"),
    ("tags", ["a", "b", "a"], 'spec.tags[2]: Duplicate value: "a"'),
    ("tags", [1], 'spec.tags[0]: Invalid value: "integer": spec.tags[0] in body must be of type string: "integer"'),
    ("ports", [{"k": "a"}, {"k": "a"}], 'spec.ports[1]: Duplicate value: {"k":"a"}'),
    ("ports", [{"v": 1}], "spec.ports[0].k: Required value"),
    ("ports", ["x"], 'spec.ports[0]: Invalid value: "x": must be an object for an array of list-type map'),
    ("labels", {"a": "1", "b": "2"}, "Too many: 2: must have at most 1 item"),
    ("labels", {"a": 1}, 'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string'),
    ("either", "5%", ""),
    ("either", 5, ""),
    ("either", True, 'Invalid value: "boolean": spec.either in body must be of type integer,string: "boolean"'),
    ("nothing", None, ""),
    ("one", {"a": "x"}, ""),
    ("one", {}, '"spec.one" must validate one and only one schema (oneOf). Found none valid'),
    ("one", {"a": "x", "b": "y"}, "(oneOf). Found 2 valid alternatives"),
    ("far", 5, '"spec.far" must validate at least one schema (anyOf)'),
    ("near", 9, '"spec.near" must validate all the schemas (allOf)'),
    ("other", 5, '"spec.other" must not validate the schema (not)'),
    ("pod", {}, "spec.pod.apiVersion: Required value"),
    (
        "pod",
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a b": "c"}}},
        "spec.pod.metadata.labels: Invalid",
    ),
    ("pod", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"x": [1]}}, ""),
    ("ipv4", "1.2.3", 'Invalid value: "1.2.3": spec.ipv4 in body must be of type ipv4: "1.2.3"'),
    ("ipv4", "1.2.3.4", ""),
    ("ipv6", "::1", ""),
    ("ipv6", "1.2.3.4", "must be of type ipv6"),
    ("cidr", "10.0.0.0/8", ""),
    ("cidr", "10.0.0.0", "must be of type cidr"),
    ("date-time", "2020-01-01T00:00:00Z", ""),
    ("date-time", "yesterday", "must be of type date-time"),
    ("date", "2020-02-30", "must be of type date"),
    ("uuid", "6e0ddc08-52d7-4065-b455-7cc3fdd1abce", ""),
    ("uuid", "x", "must be of type uuid"),
    ("email", "a@b.c", ""),
    ("email", "a", "must be of type email"),
    ("uri", "https://example.com/x", ""),
    ("uri", "x y", "must be of type uri"),
    ("hostname", "a.example.com", ""),
    ("hostname", "-a", "must be of type hostname"),
    ("duration", "1h30m", ""),
    ("duration", "soon", "must be of type duration"),
    ("byte", "YQ==", ""),
    ("byte", "!", "must be of type byte"),
    ("mac", "00:00:5e:00:53:01", ""),
    ("mac", "x", "must be of type mac"),
]


@pytest.fixture(scope="module")
def fields() -> Asking:
    api = an_api()
    api.ok("POST", DEFINITIONS, a_definition(a_version(of_spec(**FIELDS))))
    return api


def a_foo(name: str = "a", /, **spec: Any) -> Document:
    return {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(("field", "value", "words"), VALUES, ids=[f"{field} {value!r}" for field, value, _ in VALUES])
def test_values(fields: Asking, field: str, value: Any, words: str) -> None:
    code, found = fields.ask("POST", FOOS, a_foo(**{field: value}), dryRun="All")
    if not words:
        assert code == 201, found
        assert found["spec"] == {field: value}
        return
    assert code == 422
    assert words in found["message"]


def test_a_value_of_a_wrong_type_is_told_as_such(fields: Asking) -> None:
    _, found = fields.ask("POST", FOOS, a_foo(count="x"))
    assert found["details"]["causes"] == [
        {
            "reason": "FieldValueTypeInvalid",
            "message": 'Invalid value: "string": spec.count in body must be of type integer: "string"',
            "field": "spec.count",
        }
    ]


# -- rules


RULED = {
    "type": "object",
    RULES: [{"rule": "self.metadata.name.size() < 4"}],
    "properties": {
        "spec": {
            "type": "object",
            RULES: [
                {"rule": "!has(self.min) || self.min <= self.max", "message": "min too big"},
                {"rule": "self.max < 100", "messageExpression": "'not ' + string(self.max)"},
                {"rule": "self.max >= oldSelf.max", "message": "may only grow", "fieldPath": ".max"},
                {"rule": "self.max != 13", "reason": "FieldValueForbidden", "message": "unlucky"},
            ],
            "properties": {
                "min": {"type": "integer"},
                "max": {"type": "integer", "default": 5},
                "name": {"type": "string", RULES: [{"rule": "self.startsWith('a')"}]},
                "ports": {
                    **KEYED,
                    "items": {
                        "type": "object",
                        "required": ["k"],
                        "properties": {"k": {"type": "string"}, "v": {"type": "integer"}},
                        RULES: [{"rule": "self.v >= oldSelf.v", "message": "less"}],
                    },
                },
                "labels": {
                    "type": "object",
                    "additionalProperties": {"type": "string", RULES: [{"rule": "self != 'x'"}]},
                },
                "when": {
                    "type": "string",
                    "format": "date-time",
                    RULES: [{"rule": "self > timestamp('2020-01-01T00:00:00Z')"}],
                },
                "either": {INT_OR_STRING: True, RULES: [{"rule": "type(self) == int ? self < 5 : self.endsWith('%')"}]},
                "odd-name": {
                    "type": "object",
                    RULES: [{"rule": "has(self.x__dash__y)"}],
                    "properties": {"x-y": {"type": "integer"}},
                },
                "lost": {"type": "object", "properties": {"a": {"type": "integer"}}, RULES: [{"rule": "self.a > 1"}]},
                "first": {
                    "type": "integer",
                    RULES: [
                        {"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": True, "message": "begin with 1"}
                    ],
                },
            },
        }
    },
}
NEW: list[tuple[Document, str]] = [
    ({}, ""),
    ({"min": 9}, "spec: Invalid value: min too big"),
    ({"max": 100}, "spec: Invalid value: not 100"),
    ({"max": 13}, "spec: Forbidden: unlucky"),
    ({"name": "b"}, "spec.name: Invalid value: \"b\": failed rule: self.startsWith('a')"),
    ({"labels": {"k": "x"}}, "spec.labels[k]: Invalid value: \"x\": failed rule: self != 'x'"),
    (
        {"when": "2019-01-01T00:00:00Z"},
        'spec.when: Invalid value: "2019-01-01T00:00:00Z": failed rule: self > timestamp',
    ),
    ({"either": 7}, "spec.either: Invalid value: 7: failed rule"),
    ({"either": "7%"}, ""),
    ({"odd-name": {}}, "spec.odd-name: Invalid value: failed rule: has(self.x__dash__y)"),
    ({"odd-name": {"x-y": 1}}, ""),
    ({"lost": {}}, 'spec.lost: Invalid value: "object": no such key: a evaluating rule: self.a > 1'),
    ({"first": 2}, "spec.first: Invalid value: 2: begin with 1"),
    (
        {"max": "x"},
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid",
    ),
]
CHANGES: list[tuple[Document, str]] = [
    ({"max": 6}, ""),
    ({"max": 4}, "spec.max: Invalid value: may only grow"),
    ({"ports": [{"k": "a", "v": 4}]}, "spec.ports[0]: Invalid value: less"),
    ({"ports": [{"k": "b", "v": 4}]}, ""),
    ({"first": 7}, ""),
]


@pytest.fixture
def ruled() -> Asking:
    api = an_api()
    api.ok("POST", DEFINITIONS, a_definition(a_version(RULED)))
    return api


@pytest.mark.parametrize(("spec", "words"), NEW, ids=[str(spec) for spec, _ in NEW])
def test_rules_about_new_objects(ruled: Asking, spec: Document, words: str) -> None:
    code, found = ruled.ask("POST", FOOS, a_foo(**spec))
    assert code == (422 if words else 201), found
    assert words in found.get("message", "")


@pytest.mark.parametrize(("change", "words"), CHANGES, ids=[str(change) for change, _ in CHANGES])
def test_rules_about_changes(ruled: Asking, change: Document, words: str) -> None:
    ruled.ok("POST", FOOS, a_foo(max=5, ports=[{"k": "a", "v": 5}], first=1))
    code, found = ruled.ask("PATCH", f"{FOOS}/a", {"spec": change}, MERGE)
    assert code == (422 if words else 200), found
    assert words in found.get("message", "")


def test_rules_know_the_name(ruled: Asking) -> None:
    words = 'Foo.example.com "abcd" is invalid: <nil>: Invalid value: failed rule: self.metadata.name.size() < 4'
    assert ruled.refused("POST", FOOS, a_foo("abcd"))[2] == words


def test_what_was_against_a_rule_before_may_stay(ruled: Asking) -> None:
    ruled.ok("POST", FOOS, a_foo(name="ab"))
    found = ruled.ok("GET", f"{DEFINITIONS}/foos.example.com")
    schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["name"][RULES] = [{"rule": "self.endsWith('z')"}]
    ruled.ok("PUT", f"{DEFINITIONS}/foos.example.com", found)
    ruled.ok("PATCH", f"{FOOS}/a", {"spec": {"max": 6}}, MERGE)
    assert "failed rule" in ruled.refused("PATCH", f"{FOOS}/a", {"spec": {"name": "ac"}}, MERGE)[2]


def test_a_rule_that_takes_too_long_is_cut_off() -> None:
    api = an_api()
    rule = "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c > 0)))"
    spec = {
        "type": "object",
        RULES: [{"rule": rule}],
        "properties": {"l": {"type": "array", "items": {"type": "integer"}}},
    }
    api.ok("POST", DEFINITIONS, a_definition(a_version({"type": "object", "properties": {"spec": spec}})))
    assert (
        "no further validation rules will be run due to call cost exceeds limit for rule"
        in (api.refused("POST", FOOS, a_foo(l=[1] * 200))[2])
    )


# -- bad input


GOOD_DEFINITION = a_definition(
    a_version(
        RULED,
        subresources={"status": {}, "scale": {"specReplicasPath": ".spec.max", "statusReplicasPath": ".status.n"}},
        additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": ".spec.name"}],
        selectableFields=[{"jsonPath": ".spec.name"}],
    ),
    a_version({"type": "object", PRESERVE: True}, "v1beta1", False, deprecated=True),
    conversion={"strategy": "None"},
)
GOOD_FOO = {
    **a_foo(max=7, name="ab", ports=[{"k": "a", "v": 1}], labels={"a": "b"}, either="1%"),
    "status": {"n": 1},
}


def test_damaged_definitions_are_no_trouble() -> None:
    notes: list[str] = []
    for number, definition in enumerate(damaged(GOOD_DEFINITION)):
        if number % 3:
            continue
        api = Asking(ApiServer(access=always_allow, note=notes.append))
        code, found = api.ask("POST", DEFINITIONS, definition)
        assert code < 500, (definition, found)
        if code == 201:
            group, plural = found["spec"]["group"], found["spec"]["names"]["plural"]
            for path in (f"/apis/{group}/v1/{plural}", f"/openapi/v3/apis/{group}/v1", f"/apis/{group}"):
                assert api.ask("GET", path)[0] in (200, 404)
    assert notes == []


def test_damaged_objects_are_no_trouble() -> None:
    notes: list[str] = []
    api = Asking(ApiServer(access=always_allow, note=notes.append))
    api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    api.ok("POST", DEFINITIONS, GOOD_DEFINITION)
    api.ok("POST", FOOS, GOOD_FOO)
    for foo in damaged(GOOD_FOO):
        for method, path in (("POST", FOOS), ("PUT", f"{FOOS}/a"), ("PUT", f"{FOOS}/a/status")):
            code, found = api.ask(method, path, foo)
            assert code < 500, (foo, found)
        assert api.ask("GET", f"{FOOS}/a")[0] == 200
    assert notes == []
