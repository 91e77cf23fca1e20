"""Reviews: whose token, who am I, who may do what."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.roles import a_binding, a_guarded_server, a_role, a_rule, create

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.server.server import ApiServer

TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ACCESS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
OWN_ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
OWN_RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
LOCAL_ACCESS = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
AUDIENCE = "https://kubernetes.default.svc.cluster.local"
ANNA_TOKEN = "annas-secret"
ANNA = User("anna", ("writers", "system:authenticated"), "17", {"scope": ("a", "b")})
PODS = {"verb": "list", "resource": "pods", "namespace": "default"}


@pytest.fixture
def server() -> ApiServer:
    server = a_guarded_server({ANNA_TOKEN: User("anna", ("writers",), "17", {"scope": ("a", "b")})})
    create(server, a_role("lists-pods", a_rule("list", "pods"), namespace="default"))
    create(server, a_binding("lists-pods", "Role/lists-pods", "Group writers", namespace="default"))
    return server


@pytest.fixture
def api(server: ApiServer) -> Asking:
    return Asking(server)


def spec(**fields: Any) -> dict[str, Any]:
    return {"spec": fields}


# -- authentication

KNOWN = {
    "authenticated": True,
    "user": {"username": "anna", "uid": "17", "groups": list(ANNA.groups), "extra": {"scope": ["a", "b"]}},
    "audiences": [AUDIENCE],
}
UNKNOWN = {"user": {}, "error": "invalid bearer token"}


@pytest.mark.parametrize(
    ("case", "asked", "status"),
    [
        ("a known token", {"token": ANNA_TOKEN}, KNOWN),
        ("for this server among others", {"token": ANNA_TOKEN, "audiences": ["x", AUDIENCE]}, KNOWN),
        ("for anybody", {"token": ANNA_TOKEN, "audiences": None}, KNOWN),
        ("for somebody else", {"token": ANNA_TOKEN, "audiences": ["x"]}, UNKNOWN),
        ("a token that nobody has", {"token": "wrong"}, UNKNOWN),
        ("a token with a space", {"token": f"{ANNA_TOKEN} x"}, UNKNOWN),
    ],
)
def test_token_reviews(api: Asking, case: str, asked: dict[str, Any], status: dict[str, Any]) -> None:
    code, review = api.ask("POST", TOKENS, spec(**asked))
    assert (code, review["kind"], review["apiVersion"]) == (201, "TokenReview", "authentication.k8s.io/v1")
    assert review["status"] == status, case


def test_a_token_review_needs_a_token(api: Asking) -> None:
    refusal = (400, "BadRequest", "token is required for TokenReview in authentication")
    assert api.refused("POST", TOKENS, {}) == refusal
    assert api.refused("POST", TOKENS, spec(token=None)) == refusal


def test_who_asks_is_told_who_they_are(server: ApiServer) -> None:
    server.registry.clock = lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    review = Asking(server, ANNA).ok("POST", SELF, {"metadata": {"name": "ignored"}})
    assert review["status"] == {"userInfo": KNOWN["user"]}
    assert review["metadata"] == {"creationTimestamp": "2026-01-02T03:04:05Z"}


# -- authorization


@pytest.mark.parametrize(
    ("case", "asked", "status"),
    [
        (
            "somebody with a role",
            {"user": "ben", "groups": ["writers"], "resourceAttributes": PODS},
            {
                "allowed": True,
                "reason": 'RBAC: allowed by RoleBinding "lists-pods/default" of Role "lists-pods" to Group "writers"',
            },
        ),
        ("somebody without", {"user": "anna", "resourceAttributes": PODS}, {"allowed": False}),
        (
            "elsewhere",
            {"user": "ben", "groups": ["writers"], "resourceAttributes": {**PODS, "namespace": "kube-system"}},
            {"allowed": False},
        ),
        (
            "everywhere",
            {"user": "ben", "groups": ["writers"], "resourceAttributes": {"verb": "list", "resource": "pods"}},
            {"allowed": False},
        ),
        ("a master", {"groups": ["system:masters"], "resourceAttributes": {"verb": "*"}}, {"allowed": True}),
        (
            "the scheduler binds",
            {
                "user": "system:kube-scheduler",
                "resourceAttributes": {"verb": "create", "resource": "pods", "subresource": "binding", "name": "p"},
            },
            {
                "allowed": True,
                "reason": 'RBAC: allowed by ClusterRoleBinding "system:kube-scheduler" of ClusterRole '
                '"system:kube-scheduler" to User "system:kube-scheduler"',
            },
        ),
        (
            "a path",
            {"groups": ["system:unauthenticated"], "nonResourceAttributes": {"verb": "get", "path": "/healthz"}},
            {
                "allowed": True,
                "reason": 'RBAC: allowed by ClusterRoleBinding "system:public-info-viewer" of ClusterRole '
                '"system:public-info-viewer" to Group "system:unauthenticated"',
            },
        ),
        (
            "another path",
            {"groups": ["system:authenticated"], "nonResourceAttributes": {"verb": "get", "path": "/metrics"}},
            {"allowed": False},
        ),
        ("nothing in particular", {"user": "anna", "resourceAttributes": {}}, {"allowed": False}),
        ("a path that is none", {"user": "anna", "nonResourceAttributes": {"verb": "get"}}, {"allowed": False}),
        (
            "selectors, which roles know nothing of",
            {
                "groups": ["writers"],
                "resourceAttributes": {
                    **PODS,
                    "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n"]}]},
                    "labelSelector": {"rawSelector": "a=b"},
                },
            },
            {
                "allowed": True,
                "reason": 'RBAC: allowed by RoleBinding "lists-pods/default" of Role "lists-pods" to Group "writers"',
            },
        ),
    ],
)
def test_access_reviews(api: Asking, case: str, asked: dict[str, Any], status: dict[str, Any]) -> None:
    code, review = api.ask("POST", ACCESS, spec(**asked))
    assert (code, review["kind"], review["spec"]) == (201, "SubjectAccessReview", asked)
    assert review["status"] == status, case


def test_roles_that_do_not_exist_are_the_reason(server: ApiServer, api: Asking) -> None:
    create(server, a_binding("gone", "gone", "User anna"), a_binding("lost", "lost", "User anna"))
    status = api.ok("POST", ACCESS, spec(user="anna", resourceAttributes=PODS))["status"]
    said = 'clusterrole.rbac.authorization.k8s.io "{}" not found'
    assert status == {"allowed": False, "reason": f"RBAC: [{said.format('gone')}, {said.format('lost')}]"}


def test_own_access(server: ApiServer) -> None:
    anna = Asking(server, ANNA)
    assert anna.ok("POST", OWN_ACCESS, spec(resourceAttributes=PODS))["status"]["allowed"]
    assert not anna.ok("POST", OWN_ACCESS, spec(resourceAttributes={**PODS, "verb": "get"}))["status"]["allowed"]
    # what the spec says about a user counts for nothing
    asked = spec(resourceAttributes={**PODS, "verb": "get"}, groups=["system:masters"])
    assert not anna.ok("POST", OWN_ACCESS, asked)["status"]["allowed"]


def test_local_access(api: Asking) -> None:
    asked = spec(groups=["writers"], resourceAttributes=PODS)
    review = api.ok("POST", LOCAL_ACCESS, asked)
    assert review["status"]["allowed"]
    assert review["metadata"] == {"namespace": "default"}
    assert api.ok("POST", LOCAL_ACCESS, {**asked, "metadata": {"namespace": "default"}})["status"]["allowed"]
    elsewhere = "the namespace of the provided object does not match the namespace sent on the request"
    other = {**asked, "metadata": {"namespace": "kube-system"}}
    assert api.refused("POST", LOCAL_ACCESS, other) == (400, "BadRequest", elsewhere)


NEITHER = (
    "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be "
    "specified"
)
PATH = {"path": "/x", "verb": "get"}
SHOWN_PATH = '{"Path":"/x","Verb":"get"}'


@pytest.mark.parametrize(
    ("case", "path", "review", "problem"),
    [
        (
            "nothing",
            ACCESS,
            {},
            f'[{NEITHER}, spec.user: Invalid value: "": at least one of user or group must be specified]',
        ),
        ("nothing but null", OWN_ACCESS, spec(resourceAttributes=None), NEITHER),
        (
            "both",
            OWN_ACCESS,
            spec(resourceAttributes=PODS, nonResourceAttributes=PATH),
            f"spec.nonResourceAttributes: Invalid value: {SHOWN_PATH}: cannot be specified in combination with "
            "resourceAttributes",
        ),
        (
            "a name",
            OWN_ACCESS,
            {"metadata": {"name": "n"}, **spec(resourceAttributes=PODS)},
            'metadata: Invalid value: {"name":"n"}: must be empty',
        ),
        (
            "a name in a namespace",
            LOCAL_ACCESS,
            {"metadata": {"name": "n"}, **spec(user="u", resourceAttributes=PODS)},
            'metadata: Invalid value: {"name":"n","namespace":"default"}: must be empty except for namespace',
        ),
        (
            "another namespace",
            LOCAL_ACCESS,
            spec(user="u", resourceAttributes={**PODS, "namespace": "x"}),
            'spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace',
        ),
        (
            "a path in a namespace",
            LOCAL_ACCESS,
            spec(user="u", nonResourceAttributes=PATH),
            f"spec.nonResourceAttributes: Invalid value: {SHOWN_PATH}: disallowed on this kind of request",
        ),
        (
            "selectors of all kinds of wrong",
            OWN_ACCESS,
            spec(
                resourceAttributes={
                    "fieldSelector": {},
                    "labelSelector": {
                        "rawSelector": "a",
                        "requirements": [
                            {"key": "a", "operator": "In"},
                            {"key": "a", "operator": "Exists", "values": ["-"]},
                            {"key": "a", "operator": "FromTheFuture"},
                        ],
                    },
                }
            ),
            "[spec.resourceAttributes.fieldSelector.requirements: Required value: when "
            "spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required, "
            'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time '
            "as requirements, "
            "spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when "
            "`operator` is 'In' or 'NotIn', "
            "spec.resourceAttributes.labelSelector.requirements[1].values: Forbidden: may not be specified when "
            "`operator` is 'Exists' or 'DoesNotExist', "
            'spec.resourceAttributes.labelSelector.requirements[1].values[0]: Invalid value: "-": a valid label must '
            "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
            "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]",
        ),
    ],
)
def test_reviews_that_cannot_be_answered(
    api: Asking, case: str, path: str, review: dict[str, Any], problem: str
) -> None:
    code, reason, message = api.refused("POST", path, review)
    assert (code, reason) == (422, "Invalid"), case
    assert message.partition(' "" is invalid: ')[2] == problem, case


def test_a_null_time_of_creation_is_nothing_said(api: Asking) -> None:
    api.ok("POST", OWN_ACCESS, {"metadata": {"creationTimestamp": None}, **spec(resourceAttributes=PODS)})


def test_own_rules(server: ApiServer) -> None:
    create(server, a_binding("gone", "gone", "User anna"))
    review = Asking(server, ANNA).ok("POST", OWN_RULES, spec(namespace="default"))
    status = review["status"]
    assert review["spec"] == {}
    assert status["resourceRules"] == [
        {
            "verbs": ["create"],
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        },
        {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
        {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]},
    ]
    public = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"]}
    assert public in status["nonResourceRules"]
    assert status["incomplete"] is False
    assert status["evaluationError"] == 'clusterrole.rbac.authorization.k8s.io "gone" not found'


def test_own_rules_are_those_of_a_namespace(api: Asking) -> None:
    assert api.refused("POST", OWN_RULES, {}) == (400, "BadRequest", "no namespace on request")


@pytest.mark.parametrize("path", [TOKENS, ACCESS, LOCAL_ACCESS, OWN_ACCESS, OWN_RULES])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"spec":[]}',
        b'{"spec":"x"}',
        b'{"spec":{"token":1,"resourceAttributes":1,"namespace":1}}',
        b'{"spec":{"token":{"a":1},"resourceAttributes":[],"namespace":[]}}',
        b'{"spec":{"groups":"writers","audiences":"x"}}',
        b'{"spec":{"resourceAttributes":{"verb":true}}}',
        b'{"spec":{"user":"u","resourceAttributes":{"labelSelector":{"requirements":[1]}}}}',
        b'{"metadata":[],"spec":{"token":1,"namespace":1}}',
        b'{"kind":"Pod","apiVersion":"v1"}',
    ],
)
def test_malformed_reviews_are_refused(api: Asking, path: str, body: bytes) -> None:
    assert api.raw("POST", path, body).code in (400, 422)


def test_tokens_are_not_repeated_in_refusals(api: Asking) -> None:
    for body in (
        b'{"spec":{"token":"annas-secret","audiences":1}}',
        b'{"spec":{"token":["annas-secret"]}}',
        b'{"spec":{"token":{"annas-secret":1}}}',
        b'{"metadata":"annas-secret","spec":{"token":1}}',
    ):
        response = api.raw("POST", TOKENS, body)
        assert response.code == 400
        assert b"annas-secret" not in b"".join(response.chunks)


def test_reviews_are_not_kept_and_only_created(server: ApiServer, api: Asking) -> None:
    before = server.registry.store.version
    api.ok("POST", ACCESS, spec(user="anna", resourceAttributes=PODS))
    api.ok("POST", ACCESS, spec(user="anna", resourceAttributes=PODS), dryRun="All")
    assert server.registry.store.version == before
    assert api.refused("GET", ACCESS)[0] == 405
    assert api.refused("POST", ACCESS, spec(), dryRun="Some")[0] in (400, 422)


def test_reviews_need_rights_of_their_own(server: ApiServer) -> None:
    anna, nobody = Asking(server, ANNA), Asking(server, User("system:anonymous", ("system:unauthenticated",)))
    for path in (SELF, OWN_ACCESS, OWN_RULES):
        assert anna.ask("POST", path, spec(namespace="default", resourceAttributes=PODS))[0] == 201
        assert nobody.ask("POST", path, {})[0] == 403
    for path in (TOKENS, ACCESS, LOCAL_ACCESS):
        assert anna.ask("POST", path, {})[0] == 403


def test_where_everything_is_allowed_reviews_say_so() -> None:
    api = Asking(ApiServer(access=always_allow, seed=1), ADMINISTRATOR)
    assert api.ok("POST", ACCESS, spec(user="anna", resourceAttributes=PODS))["status"] == {"allowed": True}
    assert api.ok("POST", TOKENS, spec(token="any"))["status"]["user"]["username"] == "kubernetes-admin"
    rules = api.ok("POST", OWN_RULES, spec(namespace="default"))["status"]
    assert rules["resourceRules"] == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
