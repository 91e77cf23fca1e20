"""Mutating admission policies at work: how objects are changed before they are stored, or why they cannot be."""

from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api, good, path_of

Document = dict[str, Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"


def a_policy(*mutations: str, name: str = "p", resource: str = "configmaps", group: str = "", **more: Any) -> Document:
    """Return a policy; an expression that begins with a bracket is a JSON patch, another one a configuration."""
    found = [
        {"patchType": "JSONPatch", "jsonPatch": {"expression": text}}
        if text.startswith("[")
        else {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}
        for text in mutations
    ]
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource], "operations": ["CREATE", "UPDATE"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "mutations": found, "reinvocationPolicy": "Never", **more}
    return {"metadata": {"name": name}, "spec": spec}


def bind(asking: Asking, *policies: Document, **more: Any) -> None:
    for policy in policies:
        name = policy["metadata"]["name"]
        asking.ok("POST", f"{GROUP}/mutatingadmissionpolicies", policy)
        binding = {"metadata": {"name": name}, "spec": {"policyName": name, **more}}
        asking.ok("POST", f"{GROUP}/mutatingadmissionpolicybindings", binding)


def a_map(**data: str) -> Document:
    return {"metadata": {"name": "a"}, "data": data}


def test_fields_are_merged_into_the_object() -> None:
    asking = an_api()
    text = "Object{spec: Object.spec{replicas: 7}, metadata: Object.metadata{annotations: {'a': 'b'}}}"
    bind(asking, a_policy(text, resource="deployments", group="apps"))
    made = asking.ok("POST", path_of("Deployment"), good("Deployment"))
    assert (made["spec"]["replicas"], made["metadata"]["annotations"]) == (7, {"a": "b"})
    assert made["spec"]["template"]["spec"]["containers"][0]["image"] == "i", "the rest is as it was"
    changed = asking.ok("PATCH", path_of("Deployment", "a"), {"spec": {"replicas": 2}}, MERGE)
    assert changed["spec"]["replicas"] == 7


def test_items_of_lists_are_found_by_their_keys() -> None:
    asking = an_api()
    text = (
        "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: ["
        "Object.spec.template.spec.containers{name: 'side', image: 'car'}]}}}}"
    )
    bind(asking, a_policy(text, resource="deployments", group="apps"))
    made = asking.ok("POST", path_of("Deployment"), good("Deployment"))
    assert {each["name"]: each["image"] for each in made["spec"]["template"]["spec"]["containers"]} == {
        "c": "i",
        "side": "car",
    }


PODS = "/api/v1/namespaces/default/pods"
POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def test_a_binding_is_changed_before_the_pod_is_bound() -> None:
    asking = an_api()
    text = (
        "[JSONPatch{op: 'add', path: '/target/name', value: 'other'}, "
        "JSONPatch{op: 'add', path: '/metadata/annotations', value: {'bound': 'twice'}}]"
    )
    bind(asking, a_policy(text, resource="pods/binding"))
    asking.ok("POST", PODS, POD)
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
    asking.ok("POST", f"{PODS}/a/binding", binding)
    pod = asking.ok("GET", f"{PODS}/a")
    assert (pod["spec"]["nodeName"], pod["metadata"]["annotations"]) == ("other", {"bound": "twice"})


def test_an_eviction_is_changed_before_it_is_carried_out() -> None:
    asking = an_api()
    text = "[JSONPatch{op: 'add', path: '/deleteOptions', value: {'dryRun': ['All']}}]"
    bind(asking, a_policy(text, resource="pods/eviction"))
    asking.ok("POST", PODS, POD)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}}
    asking.ok("POST", f"{PODS}/a/eviction", eviction)
    assert asking.ok("GET", f"{PODS}/a")["metadata"]["name"] == "a", "the eviction was a dry run"


def test_patches_are_worked_out_from_the_object() -> None:
    asking = an_api()
    text = (
        "[JSONPatch{op: 'test', path: '/data/x', value: '1'}, JSONPatch{op: 'add', path: '/data/y', "
        "value: object.data.x + '!'}, JSONPatch{op: 'add', path: '/metadata/labels', value: {'k': 'v'}}]"
    )
    bind(asking, a_policy(text))
    made = asking.ok("POST", MAPS, a_map(x="1"))
    assert (made["data"], made["metadata"]["labels"]) == ({"x": "1", "y": "1!"}, {"k": "v"})
    asking.ok("DELETE", f"{MAPS}/a")
    assert asking.ok("POST", MAPS, a_map(x="2"))["data"] == {"x": "2"}, "a test that fails leaves the object alone"


def test_keys_are_escaped_in_paths() -> None:
    asking = an_api()
    text = "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a~b'), value: 'x'}]"
    bind(asking, a_policy(text))
    assert "a~b" in asking.refused("POST", MAPS, a_map(x="1"))[2], "what comes out has to be right"


def test_one_policy_sees_what_another_has_done_and_may_look_again() -> None:
    asking = an_api()
    first = a_policy(
        "Object{data: {'seen': string(has(object.data) && has(object.data.two))}}",
        name="a",
        reinvocationPolicy="IfNeeded",
    )
    bind(asking, first, a_policy("Object{data: {'two': 'x'}}", name="b"))
    assert asking.ok("POST", MAPS, a_map())["data"] == {"seen": "true", "two": "x"}


def test_conditions_and_parameters() -> None:
    asking = an_api()
    asking.ok("POST", MAPS, {"metadata": {"name": "params"}, "data": {"word": "w"}})
    policy = a_policy(
        "Object{data: {'word': string(params.data.word), 'from': variables.who}}",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        matchConditions=[{"name": "c", "expression": "has(object.data.x)"}],
        variables=[{"name": "who", "expression": "request.userInfo.username"}],
    )
    bind(asking, policy, paramRef={"name": "params", "parameterNotFoundAction": "Deny"})
    assert asking.ok("POST", MAPS, a_map(x="1"))["data"] == {"x": "1", "word": "w", "from": "kubernetes-admin"}
    other = asking.ok("POST", MAPS, {"metadata": {"name": "b"}, "data": {"y": "1"}})
    assert other["data"] == {"y": "1"}


FAILURES = [
    (
        "Object{data: {'x': object.data.nobody}}",
        "expression 'Object{data: {'x': object.data.nobody}}' resulted in error: no such key: nobody",
    ),
    (
        "Object{data: Object.dat{x: '1'}}",
        (
            'type mismatch: unexpected type name "Object.dat", expected "Object.data", which matches field name path '
            "from root Object type"
        ),
    ),
    ("[JSONPatch{op: 'remove', path: '/data/nobody'}]", "JSON Patch: "),
]


@pytest.mark.parametrize(("text", "words"), FAILURES)
def test_what_is_said_if_an_object_cannot_be_changed(text: str, words: str) -> None:
    asking = an_api()
    bind(asking, a_policy(text))
    code, status = asking.ask("POST", MAPS, a_map(x="1"))
    assert (code, status["reason"]) == (403, "Invalid")
    assert status["message"].startswith(f"policy 'p' with binding 'p' denied request: {words}")
    policy = asking.ok("GET", f"{GROUP}/mutatingadmissionpolicies/p")
    policy["spec"]["failurePolicy"] = "Ignore"
    asking.ok("PUT", f"{GROUP}/mutatingadmissionpolicies/p", policy)
    assert asking.ok("POST", MAPS, a_map(x="1"))["data"] == {"x": "1"}


REFUSED = [
    ("Object{spec: 1}.spec", "must evaluate to Object but got dyn"),
    ("{'a': 'b'}", "must evaluate to Object but got map(string, string)"),
    ("[1]", "must evaluate to list(JSONPatch) but got list(int)"),
    ("[JSONPatch{op: 1}]", "expected type of field 'op' is 'string' but provided type is 'int'"),
    ("[JSONPatch{where: 'x'}]", "expected type of field 'where' is '' but provided type is 'string'"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_expressions_that_change_nothing_are_refused(text: str, words: str) -> None:
    assert words in an_api().refused("POST", f"{GROUP}/mutatingadmissionpolicies", a_policy(text))[2]


def test_other_policies_make_no_objects() -> None:
    policy = good("ValidatingAdmissionPolicy")
    for text in ("Object{} == null", "jsonpatch.escapeKey('a') == 'a'"):
        policy["spec"]["validations"] = [{"expression": text}]
        assert "undeclared reference" in an_api().refused("POST", path_of("ValidatingAdmissionPolicy"), policy)[2]
