"""Validating admission policies at work: who is denied what, in which words, and who is only warned."""

from typing import Any

import msgspec
import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api, good, path_of
from tests.support.roles import a_binding, a_guarded_server, a_role, a_rule

from kubesched_controlplane.api.requests import Request, Response, User
from kubesched_controlplane.server.verbs.writing import warnings_in

Document = dict[str, Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
TEN = "[0,1,2,3,4,5,6,7,8,9]"
MERGE = "application/merge-patch+json"
START = "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "


def a_rule_for(resources: str = "configmaps", operations: str = "*", group: str = "", **more: Any) -> Document:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": resources.split()}
    return {**rule, "operations": operations.split(), **more}


def a_policy(
    *validations: str | Document, name: str = "p", rules: list[Document] | None = None, **more: Any
) -> Document:
    """Return a policy with expressions that must be true; `match` are further constraints, all else is its spec."""
    match = {"resourceRules": rules or [a_rule_for()], **more.pop("match", {})}
    found = [each if isinstance(each, dict) else {"expression": each} for each in validations]
    return {"metadata": {"name": name}, "spec": {"matchConstraints": match, "validations": found, **more}}


def bind(asking: Asking, policy: Document, *actions: str, **more: Any) -> None:
    """Create a policy and a binding for it."""
    asking.ok("POST", f"{GROUP}/validatingadmissionpolicies", policy)
    spec = {"policyName": policy["metadata"]["name"], "validationActions": list(actions) or ["Deny"], **more}
    asking.ok("POST", f"{GROUP}/validatingadmissionpolicybindings", {"metadata": {"name": "b"}, "spec": spec})


def a_map(name: str = "a", labels: Document | None = None, **data: str) -> Document:
    return {"metadata": {"name": name, "labels": labels or {}}, "data": data}


REFUSALS: list[tuple[str, Document, str]] = [
    ("an expression that is not true", a_policy("object.data.x == 'y'"), "failed expression: object.data.x == 'y'"),
    ("in the policy's words", a_policy({"expression": "false", "message": "never"}), "never"),
    (
        "in words that are worked out",
        a_policy({"expression": "false", "message": "never", "messageExpression": "'not ' + object.data.x"}),
        "not 1",
    ),
    (
        "words that cannot be worked out are not used",
        a_policy({"expression": "false", "message": "never", "messageExpression": "'not ' + object.data.nobody"}),
        "never",
    ),
    (
        "an expression that cannot be evaluated",
        a_policy("object.data.nobody == 'y'"),
        "expression 'object.data.nobody == 'y'' resulted in error: no such key: nobody",
    ),
    (
        "variables are worked out when they are needed",
        a_policy(
            "has(object.data.x) || variables.broken",
            "variables.sum > 5",
            variables=[
                {"name": "broken", "expression": "object.data.nobody == 1"},
                {"name": "one", "expression": "int(object.data.x)"},
                {"name": "sum", "expression": "variables.one + 1"},
            ],
        ),
        "failed expression: variables.sum > 5",
    ),
    (
        "a variable that cannot be worked out",
        a_policy("variables.broken", variables=[{"name": "broken", "expression": "object.data.nobody == 1"}]),
        (
            "expression 'variables.broken' resulted in error: composited variable \"broken\" fails to evaluate: "
            "no such key: nobody"
        ),
    ),
    (
        "a match condition that cannot be evaluated",
        a_policy("true", matchConditions=[{"name": "c", "expression": "object.data.nobody == 'y'"}]),
        "expression 'object.data.nobody == 'y'' resulted in error: no such key: nobody",
    ),
    (
        "who asks and for what",
        a_policy("request.userInfo.username + request.operation + request.name + request.resource.resource == ''"),
        "failed expression: request.userInfo.username + request.operation + request.name + request.resource.res",
    ),
    ("the namespace", a_policy("namespaceObject.metadata.name != 'default'"), "failed expression: namespaceObject.met"),
    (
        "an annotation for the audit log that cannot be made",
        a_policy("true", auditAnnotations=[{"key": "k", "valueExpression": "object.data.nobody + ''"}]),
        "expression 'object.data.nobody + ''' resulted in error: no such key: nobody",
    ),
    (
        "expressions that cost too much",
        a_policy(
            f"{TEN}.all(a, {TEN}.all(b, {TEN}.all(c, {TEN}.all(d, {TEN}.all(e, {TEN}.all(f, a + b + c + d < 100))))))"
        ),
        "operation cancelled: actual cost limit exceeded",
    ),
]


@pytest.mark.parametrize(
    ("policy", "words"), [(policy, words) for _, policy, words in REFUSALS], ids=[each[0] for each in REFUSALS]
)
def test_what_is_denied(policy: Document, words: str) -> None:
    asking = an_api()
    bind(asking, policy)
    code, reason, message = asking.refused("POST", MAPS, a_map(x="1"))
    assert (code, reason) == (422, "Invalid")
    assert message.startswith(START)
    assert words in message


ADMITTED: list[tuple[str, Document]] = [
    (
        "what is true",
        a_policy(
            "object.data.x == '1'",
            "oldObject == null",
            "params == null",
            paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        ),
    ),
    ("another operation", a_policy("false", rules=[a_rule_for(operations="UPDATE DELETE")])),
    ("another resource", a_policy("false", rules=[a_rule_for("secrets configmaps/status")])),
    ("another version", a_policy("false", rules=[{**a_rule_for(), "apiVersions": ["v2"]}])),
    ("objects of other names", a_policy("false", rules=[a_rule_for(resourceNames=["b"])])),
    ("the scope of clusters", a_policy("false", rules=[a_rule_for(scope="Cluster")])),
    ("what is excluded", a_policy("false", match={"excludeResourceRules": [a_rule_for("*", "CREATE")]})),
    ("namespaces that are not selected", a_policy("false", match={"namespaceSelector": {"matchLabels": {"a": "b"}}})),
    ("objects that are not selected", a_policy("false", match={"objectSelector": {"matchLabels": {"a": "b"}}})),
    (
        "what conditions leave out",
        a_policy("false", matchConditions=[{"name": "c", "expression": "object.data.x != '1'"}]),
    ),
    (
        "false weighs more than what cannot be evaluated",
        a_policy(
            "false",
            matchConditions=[
                {"name": "c", "expression": "object.data.nobody == 'y'"},
                {"name": "d", "expression": "false"},
            ],
        ),
    ),
    ("what is ignored when it fails", a_policy("object.data.nobody == 'y'", failurePolicy="Ignore")),
    (
        "conditions that are ignored when they fail",
        a_policy("false", failurePolicy="Ignore", matchConditions=[{"name": "c", "expression": "object.nobody == 1"}]),
    ),
    ("reviews of access by the authorizer", a_policy("authorizer.group('').resource('pods').check('get').allowed()")),
]


@pytest.mark.parametrize("policy", [policy for _, policy in ADMITTED], ids=[words for words, _ in ADMITTED])
def test_what_is_admitted(policy: Document) -> None:
    asking = an_api()
    bind(asking, policy)
    asking.ok("POST", MAPS, a_map(x="1"))


@pytest.mark.parametrize(("reason", "code"), [("Forbidden", 403), ("RequestEntityTooLarge", 413), ("Invalid", 422)])
def test_reasons_have_their_codes(reason: str, code: int) -> None:
    asking = an_api()
    bind(asking, a_policy({"expression": "false", "reason": reason, "message": "no"}))
    found, status = asking.ask("POST", MAPS, a_map())
    assert (found, status["reason"]) == (code, reason)
    words = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
    assert status["details"] == {"name": "a", "kind": "configmaps", "causes": [{"message": words}]}


def test_whoever_is_warned_gets_what_they_want() -> None:
    asking = an_api()
    bind(asking, a_policy({"expression": "false", "message": "mind this"}), "Warn", "Audit")
    body = msgspec.json.encode(a_map())
    found = asking.server.handle(Request("POST", MAPS, body=body))
    assert isinstance(found, Response)
    assert found.code == 201
    words = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': mind this"
    assert warnings_in(found) == [words]


def test_auditing_alone_denies_nothing() -> None:
    asking = an_api()
    bind(asking, a_policy("false"), "Audit")
    asking.ok("POST", MAPS, a_map())


def test_changes_and_deletions_know_what_was_before() -> None:
    asking = an_api()
    asking.ok("POST", MAPS, a_map(x="1"))
    asking.ok("POST", MAPS, a_map("b", x="1"))
    bind(
        asking,
        a_policy(
            "request.operation != 'UPDATE' || object.data.x == oldObject.data.x",
            "request.operation != 'DELETE' || (object == null && oldObject.metadata.name != 'a')",
        ),
    )
    assert "object.data.x == oldObject.data.x" in asking.refused("PATCH", f"{MAPS}/a", {"data": {"x": "2"}}, MERGE)[2]
    asking.ok("PATCH", f"{MAPS}/a", {"data": {"y": "2"}}, MERGE)
    assert "request.operation != 'DELETE'" in asking.refused("DELETE", f"{MAPS}/a")[2]
    assert asking.refused("DELETE", MAPS)[0] == 422
    assert asking.ok("GET", f"{MAPS}/a")["data"] == {"x": "1", "y": "2"}
    asking.ok("DELETE", f"{MAPS}/b", dryRun="All")


def test_apply_and_dry_runs_are_looked_at_like_any_write() -> None:
    asking = an_api()
    bind(asking, a_policy("object.data.x == '1'", "request.dryRun == false"))
    config = {"apiVersion": "v1", "kind": "ConfigMap", **a_map(x="2")}
    apply = "application/apply-patch+yaml"
    assert "object.data.x == '1'" in asking.refused("PATCH", f"{MAPS}/a", config, apply, fieldManager="m")[2]
    assert "request.dryRun == false" in asking.refused("POST", MAPS, a_map(x="1"), dryRun="All")[2]


def test_statuses_are_looked_at_only_where_a_rule_says_so() -> None:
    asking = an_api()
    asking.ok("POST", path_of("Deployment"), good("Deployment"))
    bind(asking, a_policy("object.status.replicas < 5", rules=[a_rule_for("deployments/status", group="apps")]))
    asking.ok("PATCH", path_of("Deployment", "a"), {"spec": {"replicas": 9}}, MERGE)
    status = f"{path_of('Deployment', 'a')}/status"
    assert "object.status.replicas < 5" in asking.refused("PATCH", status, {"status": {"replicas": 9}}, MERGE)[2]


def test_bindings_and_evictions_of_pods() -> None:
    asking = an_api()
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    asking.ok("POST", "/api/v1/namespaces/default/pods", pod)
    rules = [a_rule_for("pods/binding pods/eviction")]
    bind(asking, a_policy("object.kind == 'Binding' && object.target.name == 'good'", rules=rules))
    path = "/api/v1/namespaces/default/pods/a"
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "bad"}}
    assert "object.target.name == 'good'" in asking.refused("POST", f"{path}/binding", binding)[2]
    assert "denied request" in asking.refused("POST", f"{path}/eviction", {"metadata": {"name": "a"}})[2]
    asking.ok("POST", f"{path}/binding", {**binding, "target": {"kind": "Node", "name": "good"}})


# -- parameters

KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
LIMITED = a_policy(
    "int(object.data.x) <= int(params.data.most)", paramKind=KIND, rules=[a_rule_for(resourceNames=["a"])]
)


def test_parameters_by_name() -> None:
    asking = an_api()
    asking.ok("POST", MAPS, a_map("limits", most="5"))
    bind(asking, LIMITED, paramRef={"name": "limits", "parameterNotFoundAction": "Deny"})
    assert "int(object.data.x) <= int(params.data.most)" in asking.refused("POST", MAPS, a_map(x="6"))[2]
    asking.ok("POST", MAPS, a_map(x="5"))
    asking.ok("DELETE", f"{MAPS}/limits")
    words = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    assert words in asking.refused("PATCH", f"{MAPS}/a", {"data": {"x": "4"}}, MERGE)[2]


def test_parameters_that_are_not_there_may_not_matter() -> None:
    asking = an_api()
    bind(asking, LIMITED, paramRef={"name": "limits", "parameterNotFoundAction": "Allow"})
    asking.ok("POST", MAPS, a_map(x="6"))


def test_every_parameter_that_is_selected_counts() -> None:
    asking = an_api()
    for name, most in (("l1", "9"), ("l2", "5")):
        asking.ok("POST", MAPS, a_map(name, {"limit": "yes"}, most=most))
    selector = {"matchLabels": {"limit": "yes"}}
    bind(asking, LIMITED, paramRef={"selector": selector, "parameterNotFoundAction": "Deny"})
    assert asking.refused("POST", MAPS, a_map(x="6"))[0] == 422
    asking.ok("DELETE", f"{MAPS}/l2")
    asking.ok("POST", MAPS, a_map(x="6"))


def test_parameters_of_a_kind_that_is_not_served() -> None:
    asking = an_api()
    bind(
        asking,
        {**LIMITED, "spec": {**LIMITED["spec"], "paramKind": {"apiVersion": "x.io/v1", "kind": "Foo"}}},
        paramRef={"name": "f", "parameterNotFoundAction": "Deny"},
    )
    words = "failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Foo'"
    assert words in asking.refused("POST", MAPS, a_map(x="6"))[2]


# -- what else is looked at


def test_a_policy_without_a_binding_does_nothing_and_one_that_is_gone_neither() -> None:
    asking = an_api()
    bind(asking, a_policy("false"))
    assert asking.refused("POST", MAPS, a_map())[0] == 422
    asking.ok("DELETE", f"{GROUP}/validatingadmissionpolicybindings/b")
    asking.ok("POST", MAPS, a_map())
    assert asking.server.registry.admission.idle


def test_other_versions_of_the_same_objects_match_unless_exactly_one_is_meant() -> None:
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
        "reason": "R",
        "message": "words",
    }
    for exact, code in ((False, 422), (True, 201)):
        asking = an_api()
        match = {"matchPolicy": "Exact"} if exact else {}
        rules = [a_rule_for("events", group="events.k8s.io")]
        bind(asking, a_policy("object.note != 'words'", rules=rules, match=match))
        assert asking.ask("POST", "/api/v1/namespaces/default/events", event)[0] == code


def test_bindings_narrow_policies_down() -> None:
    asking = an_api()
    bind(asking, a_policy("false"), matchResources={"objectSelector": {"matchLabels": {"a": "b"}}})
    asking.ok("POST", MAPS, a_map())
    assert asking.refused("POST", MAPS, a_map("b", {"a": "b"}))[0] == 422
    # what was selected before counts, too
    assert asking.refused("PATCH", f"{MAPS}/a", {"metadata": {"labels": {"a": "b"}}}, MERGE)[0] == 422


def test_namespaces_are_selected_by_their_own_labels() -> None:
    asking = an_api()
    bind(
        asking,
        a_policy("false", rules=[a_rule_for("namespaces")], match={"namespaceSelector": {"matchLabels": {"a": "b"}}}),
    )
    asking.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})
    assert asking.refused("POST", "/api/v1/namespaces", {"metadata": {"name": "m", "labels": {"a": "b"}}})[0] == 422


def test_what_is_configured_is_never_asked_about() -> None:
    asking = an_api()
    bind(asking, a_policy("false", rules=[a_rule_for("*/*", group="*")]))
    asking.ok("DELETE", f"{GROUP}/validatingadmissionpolicies/p")


def test_the_authorizer_knows_who_asks() -> None:
    asking = Asking(a_guarded_server())
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    asking.ok("POST", f"{rbac}/clusterroles", a_role("r", a_rule("create", "configmaps")))
    asking.ok("POST", f"{rbac}/clusterrolebindings", a_binding("b", "r", "User u", "ServiceAccount sa default"))
    checks = [
        "authorizer.requestResource.check('create').allowed()",
        "!authorizer.requestResource.check('delete').allowed() || request.userInfo.username != 'u'",
        "authorizer.serviceAccount('default', 'sa').group('').resource('configmaps').check('create').allowed()",
        "!authorizer.serviceAccount('default', 'other').group('').resource('configmaps').check('create').allowed()",
    ]
    bind(asking, a_policy(*checks[:2]))
    somebody = Asking(asking.server, User("u"))
    somebody.ok("POST", MAPS, a_map())
    asking.ok("DELETE", f"{GROUP}/validatingadmissionpolicies/p")
    asking.ok("DELETE", f"{GROUP}/validatingadmissionpolicybindings/b")
    bind(asking, a_policy(*checks[2:]))
    somebody.ok("POST", MAPS, a_map("b"))
