"""Policies, flow schemas, priority levels, networks, API services and requests for certificates: what is filled in,
what is refused, and what every cluster begins with.
"""

from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api, found_at, good, path_of, put
from tests.support.roles import a_binding, a_guarded_server, a_role, a_rule

from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.transport.local_client import LocalClient

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
SCHEMA, LEVEL = "FlowSchema", "PriorityLevelConfiguration"
REQUEST, NETWORK = "CertificateSigningRequest", "ServiceCIDR"
VALIDATION, RULE = "spec|validations|0", "spec|rules|0"

REFUSALS: list[tuple[str, str, Any, str]] = [
    (POLICY, "spec|failurePolicy", "Panic", 'spec.failurePolicy: Unsupported value: "Panic"'),
    (POLICY, "spec|paramKind|apiVersion", "a/b/c", "unexpected GroupVersion string: a/b/c"),
    (POLICY, f"{VALIDATION}|expression", "object.x", "must evaluate to bool but got dyn"),
    (
        POLICY,
        f"{VALIDATION}|expression",
        "nobody == 1",
        (
            'spec.validations[0].expression: Invalid value: "nobody == 1": compilation failed: ERROR: <input>:1:1: '
            "undeclared reference to 'nobody' (in container '')"
        ),
    ),
    (POLICY, f"{VALIDATION}|expression", "variables.nobody == 1", "undefined field 'nobody'"),
    (POLICY, f"{VALIDATION}|expression", "request.kind.nobody == 1", "undefined field 'nobody'"),
    (POLICY, f"{VALIDATION}|messageExpression", "1", "must evaluate to string but got int"),
    (POLICY, f"{VALIDATION}|message", "a\nb", "must not contain line breaks"),
    (POLICY, "spec|auditAnnotations|0|valueExpression", "1", "must evaluate to one of [string null_type] but got int"),
    (POLICY, "spec|variables|0|expression", "variables.later", "undefined field 'later'"),
    (BINDING, "spec|validationActions", ["Deny", "Warn"], "must not contain both Deny and Warn"),
    (BINDING, "spec|paramRef|selector", {}, "spec.paramRef.name: Forbidden: name and selector are mutually exclusive"),
    (SCHEMA, "spec|matchingPrecedence", 1, "only the schema named 'exempt' may have matchingPrecedence 1"),
    (SCHEMA, "spec|matchingPrecedence", 10001, "must not be greater than 10000"),
    (SCHEMA, f"{RULE}|subjects|0|kind", "Group", "group is required when subject kind is 'Group'"),
    (LEVEL, "spec|type", "Exempt", "must be 'Exempt' if and only if `name` is 'exempt'"),
    (LEVEL, "spec|limited|lendablePercent", 101, "must be between 0 and 100, inclusive"),
    (NETWORK, "spec|cidrs|0", "10.1.0.1/16", 'spec.cidrs[0]: Invalid value: "10.1.0.1/16": must not have bits set'),
]


@pytest.mark.parametrize(("kind", "path", "value", "words"), REFUSALS)
def test_what_is_refused(kind: str, path: str, value: Any, words: str) -> None:
    code, reason, message = an_api().refused("POST", path_of(kind), put(good(kind), path, value))
    assert (code, reason) == (422, "Invalid")
    assert words in message


DEFAULTS: list[tuple[str, str, Any]] = [
    (POLICY, "spec|failurePolicy", "Fail"),
    (POLICY, "spec|matchConstraints|matchPolicy", "Equivalent"),
    (POLICY, "spec|matchConstraints|objectSelector", {}),
    (POLICY, "spec|matchConstraints|resourceRules|0|scope", "*"),
    (SCHEMA, "spec|matchingPrecedence", 1000),
    (SCHEMA, "status|conditions|0|reason", "NotFound"),
    (LEVEL, "spec|limited|nominalConcurrencyShares", 30),
    (LEVEL, "spec|limited|limitResponse|queuing|queueLengthLimit", 50),
    (NETWORK, "status|conditions|0|type", "Ready"),
    (REQUEST, "spec|username", "kubernetes-admin"),
]


@pytest.mark.parametrize(("kind", "path", "expected"), DEFAULTS)
def test_what_is_filled_in(kind: str, path: str, expected: Any) -> None:
    assert found_at(an_api().ok("POST", path_of(kind), good(kind)), path) == expected


def test_addresses_are_named_after_themselves() -> None:
    asking = an_api()
    path, spec = "/apis/networking.k8s.io/v1/ipaddresses", {"parentRef": {"resource": "services", "name": "s"}}
    for name in ("10.1.2.3", "fe80::42:1dff:fe84:f9e2"):
        asking.ok("POST", path, {"metadata": {"name": name}, "spec": spec})
    assert "valid IP address" in asking.refused("POST", path, {"metadata": {"name": "here"}, "spec": spec})[2]
    assert "canonical form" in asking.refused("POST", path, {"metadata": {"name": "FE80::1"}, "spec": spec})[2]
    other = {"metadata": {"name": "10.1.2.3"}, "spec": {"parentRef": {"resource": "services", "name": "t"}}}
    assert "field is immutable" in asking.refused("PUT", f"{path}/10.1.2.3", other)[2]


def test_a_network_may_get_one_of_the_other_family_and_no_more() -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(NETWORK), good(NETWORK))
    changed = put(made, "spec|cidrs", ["10.9.0.0/16"])
    assert "field is immutable" in asking.refused("PUT", path_of(NETWORK, "a"), changed)[2]
    asking.ok("PUT", path_of(NETWORK, "a"), put(made, "spec|cidrs", ["10.1.0.0/16", "fd00::/64"]))


MERGE = "application/merge-patch+json"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


def test_what_every_cluster_begins_with() -> None:
    asking = Asking()
    bootstrap(LocalClient(asking.server, ADMINISTRATOR))
    bootstrap(LocalClient(asking.server, ADMINISTRATOR))
    flows = "/apis/flowcontrol.apiserver.k8s.io/v1"
    schemas = {each["metadata"]["name"]: each for each in asking.ok("GET", f"{flows}/flowschemas")["items"]}
    levels = {each["metadata"]["name"] for each in asking.ok("GET", f"{flows}/prioritylevelconfigurations")["items"]}
    assert len(schemas) == 11
    assert levels == {
        "exempt",
        "catch-all",
        "system",
        "node-high",
        "leader-election",
        "workload-high",
        "workload-low",
        "global-default",
    }
    assert {each["status"]["conditions"][0]["status"] for each in schemas.values()} == {"False"}, "none is dangling"
    assert asking.ok("GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes")["spec"] == {"cidrs": ["10.96.0.0/12"]}
    found = {each["metadata"]["name"]: each for each in asking.ok("GET", SERVICES)["items"]}
    assert {"v1.", "v1.apps", "v2.autoscaling", "v1.flowcontrol.apiserver.k8s.io"} <= set(found)
    conditions = [each["status"]["conditions"][0] for each in found.values()]
    assert {(each["status"], each["reason"]) for each in conditions} == {("True", "Local")}


def test_mandatory_flow_schemas_stay_as_they_are() -> None:
    asking = Asking()
    bootstrap(LocalClient(asking.server, ADMINISTRATOR))
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all"
    found = asking.ok("GET", path)
    asking.ok("PUT", path, put(found, "metadata|labels", {"a": "b"}))
    found = asking.ok("GET", path)
    refused = asking.refused("PUT", path, put(found, "spec|matchingPrecedence", 9999))
    assert "spec of 'catch-all' must equal the fixed value" in refused[2]


def test_api_services_come_and_go_with_definitions() -> None:
    asking = Asking()
    bootstrap(LocalClient(asking.server, ADMINISTRATOR))
    definition = {
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            ],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    asking.ok("POST", path, definition)
    found = asking.ok("GET", f"{SERVICES}/v1.example.com")
    assert (found["spec"]["groupPriorityMinimum"], found["spec"]["versionPriority"]) == (1000, 100)
    asking.ok("DELETE", f"{path}/foos.example.com")
    assert asking.ask("GET", f"{SERVICES}/v1.example.com")[0] == 404


def test_requests_for_another_servers_group_are_refused_with_the_reason() -> None:
    asking = an_api()
    spec = {"group": "wardle.example.com", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 200}
    service = {"namespace": "default", "name": "sample"}
    made = {"metadata": {"name": "v1.wardle.example.com"}, "spec": {**spec, "service": service}}
    found = asking.ok("POST", SERVICES, made)
    assert found["spec"]["service"]["port"] == 443
    assert found["status"]["conditions"][0]["status"] == "False"
    for path in ("/apis/wardle.example.com/v1", "/apis/wardle.example.com/v1/namespaces/default/flunders"):
        code, reason, message = asking.refused("GET", path)
        assert (code, reason) == (503, "ServiceUnavailable")
        assert "default/sample" in message
    assert asking.ask("GET", "/apis/wardle.example.com/v2")[0] == 404
    wrong = {"metadata": {"name": "v2.wardle.example.com"}, "spec": spec}
    assert 'must be `spec.version+"."+spec.group`' in asking.refused("POST", SERVICES, wrong)[2]


# -- requests for certificates


def test_a_request_is_approved_on_its_own_path() -> None:
    asking = an_api()
    made = asking.ok("POST", path_of(REQUEST), put(good(REQUEST), "spec|username", "somebody else"))
    assert made["spec"]["username"] == "kubernetes-admin"
    assert made["status"] == {}
    yes = {"type": "Approved", "status": "True", "reason": "R", "message": "M"}
    path = path_of(REQUEST, "a")
    asking.ok("PUT", path, put(made, "status|conditions", [yes]))
    made = asking.ok("GET", path)
    assert made["status"] == {}, "not by an update"
    assert (
        "may not add a condition" in asking.refused("PUT", f"{path}/status", put(made, "status|conditions", [yes]))[2]
    )
    made = asking.ok("PUT", f"{path}/approval", put(made, "status|conditions", [yes]))
    assert made["status"]["conditions"][0]["lastTransitionTime"]
    no = {**yes, "type": "Denied"}
    both = asking.refused("PATCH", f"{path}/approval", {"status": {"conditions": [yes, no]}}, MERGE)
    assert "Approved and Denied conditions are mutually exclusive" in both[2]
    taken_back = asking.refused("PUT", f"{path}/approval", put(made, "status|conditions", []))
    assert 'updates may not remove a condition of type "Approved"' in taken_back[2]
    assert asking.ok("GET", f"{path}/approval")["metadata"]["name"] == "a"
    assert asking.ok("GET", path_of(REQUEST), fieldSelector="spec.signerName=example.com/a")["items"]


def test_who_may_approve_is_a_matter_of_the_signer() -> None:
    asking = Asking(a_guarded_server())
    asking.ok("POST", path_of(REQUEST), good(REQUEST))
    group = "certificates.k8s.io"
    rbac, deciding = "/apis/rbac.authorization.k8s.io/v1", a_rule("*", "certificatesigningrequests/approval", group)
    asking.ok("POST", f"{rbac}/clusterroles", a_role("r", deciding))
    asking.ok("POST", f"{rbac}/clusterrolebindings", a_binding("b", "r", "User u"))
    change = {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}
    somebody, path = Asking(asking.server, User("u")), f"{path_of(REQUEST, 'a')}/approval"
    refused = somebody.refused("PATCH", path, change, MERGE)
    assert refused[:2] == (403, "Forbidden")
    assert 'user not permitted to approve requests with signerName "example.com/a"' in refused[2]
    signers = a_rule("approve", "signers", group, "example.com/*")
    asking.ok("PUT", f"{rbac}/clusterroles/r", a_role("r", deciding, signers))
    somebody.ok("PATCH", path, change, MERGE)
