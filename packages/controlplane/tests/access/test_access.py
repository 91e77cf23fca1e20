"""Who asks and whether they may: credentials, acting as others, roles, and the words of a refusal."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.support.api import Asking
from tests.support.roles import RBAC, a_binding, a_guarded_server, a_role, a_rule, create

from kubesched_controlplane.access import Attributes, Rule, StaticTokens
from kubesched_controlplane.access.rules import missing
from kubesched_controlplane.api.requests import ADMINISTRATOR, ANONYMOUS, Request, Response, User
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

ADMIN_TOKEN, SCHEDULER_TOKEN, ANNA_TOKEN = "the-administrators-secret", "the-schedulers-secret", "annas-secret"
TOKENS = {
    ADMIN_TOKEN: User("kubernetes-admin", ("system:masters",)),
    SCHEDULER_TOKEN: User("system:kube-scheduler"),
    ANNA_TOKEN: User("anna", ("writers",), "17"),
}


@pytest.fixture
def server() -> ApiServer:
    return a_guarded_server(TOKENS)


def bearer(token: str, **more: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in more.items()}}


def code_of(server: ApiServer, user: User, method: str, path: str, **query: str) -> int:
    found = server.handle(Request(method, path, {name: [value] for name, value in query.items()}, user=user))
    return found.code if isinstance(found, Response) else 200


ANNA = User("anna", ("writers", "system:authenticated"), "17")

# -- who


@pytest.mark.parametrize(
    ("case", "header", "name"),
    [
        ("a known token", f"Bearer {ANNA_TOKEN}", "anna"),
        ("the scheme in any case", f"bEARER {ANNA_TOKEN}", "anna"),
        ("white space around it", f"  Bearer {ANNA_TOKEN}  ", "anna"),
        ("what follows the token is ignored", f"Bearer {ANNA_TOKEN} and more", "anna"),
        ("nothing at all", "", "system:anonymous"),
        ("a scheme without a token", "Bearer", "system:anonymous"),
        ("a space too many before the token", f"Bearer  {ANNA_TOKEN}", "system:anonymous"),
        ("another scheme", "Basic YW5uYTpwYXNzd29yZA==", "system:anonymous"),
        ("a token that nobody has", "Bearer wrong", "401"),
        ("the beginning of a token", f"Bearer {ANNA_TOKEN[:-1]}", "401"),
        ("more than a token", f"Bearer {ANNA_TOKEN}x", "401"),
        ("letters outside of ASCII", "Bearer größe", "401"),
        ("half a character", "Bearer \udcff", "401"),
        ("a very long token", "Bearer " + "x" * 100_000, "401"),
    ],
)
def test_tokens_say_who_asks(server: ApiServer, case: str, header: str, name: str) -> None:
    headers = {"authorization": header} if header else {}
    if name != "401":
        assert server.access.user_of(headers).name == name, case
        return
    with pytest.raises(ApiError) as refused:
        server.access.user_of(headers)
    assert (refused.value.code, refused.value.reason, refused.value.message) == (401, "Unauthorized", "Unauthorized")


def test_known_users_are_authenticated_and_others_are_not(server: ApiServer) -> None:
    assert server.access.user_of(bearer(ANNA_TOKEN)) == ANNA
    assert server.access.user_of({}) == User("system:anonymous", ("system:unauthenticated",))


def test_tokens_come_at_any_time_and_the_last_word_counts() -> None:
    tokens = StaticTokens()
    assert tokens.find("t") is None
    tokens.add("t", User("first"))
    tokens.add("t", User("second"))
    found = tokens.find("t")
    assert found is not None
    assert found.name == "second"


@pytest.mark.parametrize("token", ["", "with space", "with\nline"])
def test_tokens_that_no_header_can_carry_are_refused_unseen(token: str) -> None:
    with pytest.raises(ValueError, match=r"^a token must not be empty or contain white space$"):
        StaticTokens({token: User("anna")})


# -- as whom


class Headers(dict[str, str]):
    """Headers as they are on the wire: in any case, and some several times."""

    def __init__(self, *pairs: tuple[str, str]) -> None:
        super().__init__((name.lower(), value) for name, value in reversed(pairs))
        self._pairs = pairs

    def items(self) -> Any:
        return self._pairs


def test_the_administrator_may_act_as_anybody(server: ApiServer) -> None:
    headers = Headers(
        ("Authorization", f"Bearer {ADMIN_TOKEN}"),
        ("Impersonate-User", "ben"),
        ("Impersonate-Group", "readers"),
        ("Impersonate-Group", "system:masters"),
        ("Impersonate-Uid", "42"),
        ("Impersonate-Extra-Example.com%2Fscope", "a"),
        ("Impersonate-Extra-Example.com%2Fscope", "b"),
    )
    wanted = User("ben", ("readers", "system:masters", "system:authenticated"), "42", {"example.com/scope": ("a", "b")})
    assert server.access.user_of(headers) == wanted


@pytest.mark.parametrize(
    ("case", "name", "groups"),
    [
        ("a user is authenticated", "ben", ("system:authenticated",)),
        ("nobody is not", "system:anonymous", ("system:unauthenticated",)),
        (
            "a service account has its groups",
            "system:serviceaccount:default:robot",
            ("system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"),
        ),
        ("what only looks like one has none", "system:serviceaccount:default:a:b", ("system:authenticated",)),
        ("nor with a name that none can have", "system:serviceaccount:de.fault:robot", ("system:authenticated",)),
    ],
)
def test_groups_follow_from_the_name_acted_as(server: ApiServer, case: str, name: str, groups: tuple[str, ...]) -> None:
    assert server.access.user_of(bearer(ADMIN_TOKEN, impersonate_user=name)).groups == groups, case


@pytest.mark.parametrize(
    ("case", "headers", "code", "message"),
    [
        (
            "a user",
            {"impersonate-user": "carl"},
            403,
            'users "carl" is forbidden: User "anna" cannot impersonate resource "users" in API group "" at the cluster '
            "scope",
        ),
        (
            "a group besides a user that is allowed",
            {"impersonate-user": "ben", "impersonate-group": "system:masters"},
            403,
            'groups "system:masters" is forbidden: User "anna" cannot impersonate resource "groups" in API group "" at '
            "the cluster scope",
        ),
        (
            "a service account",
            {"impersonate-user": "system:serviceaccount:kube-system:robot"},
            403,
            'serviceaccounts "robot" is forbidden: User "anna" cannot impersonate resource "serviceaccounts" in API '
            'group "" in the namespace "kube-system"',
        ),
        (
            "a UID",
            {"impersonate-user": "ben", "impersonate-uid": "1"},
            403,
            'uids.authentication.k8s.io "1" is forbidden: User "anna" cannot impersonate resource "uids" in API group '
            '"authentication.k8s.io" at the cluster scope',
        ),
        (
            "an extra value",
            {"impersonate-user": "ben", "impersonate-extra-scope": "all"},
            403,
            'userextras.authentication.k8s.io "all" is forbidden: User "anna" cannot impersonate resource '
            '"userextras/scope" in API group "authentication.k8s.io" at the cluster scope',
        ),
        (
            "a group alone",
            {"impersonate-group": "system:masters"},
            400,
            "requested a group, a UID or an extra value without impersonating a user name",
        ),
    ],
)
def test_others_may_act_as_those_they_are_given(
    server: ApiServer, case: str, headers: dict[str, str], code: int, message: str
) -> None:
    create(server, a_role("as-ben", a_rule("impersonate", "users", names="ben")))
    create(server, a_binding("as-ben", "as-ben", "User anna"))
    assert server.access.user_of(bearer(ANNA_TOKEN, impersonate_user="ben")).name == "ben"
    with pytest.raises(ApiError) as refused:
        server.access.user_of({**bearer(ANNA_TOKEN), **headers})
    assert (refused.value.code, refused.value.message) == (code, message), case


# -- whether

RULE = Rule(("get", "list"), ("apps",), ("replicasets", "*/scale"))


@pytest.mark.parametrize(
    ("case", "rule", "attributes", "allowed"),
    [
        ("verb, group and resource", RULE, Attributes("get", "apps", "replicasets"), True),
        ("another verb", RULE, Attributes("delete", "apps", "replicasets"), False),
        ("another group", RULE, Attributes("get", "", "replicasets"), False),
        ("another resource", RULE, Attributes("get", "apps", "statefulsets"), False),
        ("its subresource is another", RULE, Attributes("get", "apps", "replicasets", "status"), False),
        ("a subresource of any", RULE, Attributes("get", "apps", "statefulsets", "scale"), True),
        ("a resource of that name is none", RULE, Attributes("get", "apps", "scale"), False),
        ("everything", Rule(("*",), ("*",), ("*",)), Attributes("x", "y", "z", "sub", name="n"), True),
        ("everything but paths", Rule(("*",), ("*",), ("*",)), Attributes("get", path="/metrics"), False),
        ("one by name", Rule(("get",), ("",), ("pods",), ("a",)), Attributes("get", "", "pods", name="a"), True),
        ("another name", Rule(("get",), ("",), ("pods",), ("a",)), Attributes("get", "", "pods", name="b"), False),
        ("all of them", Rule(("get",), ("",), ("pods",), ("a",)), Attributes("get", "", "pods"), False),
        ("a path", Rule(("get",), paths=("/a",)), Attributes("get", path="/a"), True),
        ("a path below", Rule(("get",), paths=("/a",)), Attributes("get", path="/a/b"), False),
        ("all below a path", Rule(("get",), paths=("/a/*",)), Attributes("get", path="/a/b/c"), True),
        ("not the path itself", Rule(("get",), paths=("/a/*",)), Attributes("get", path="/a"), False),
        ("all paths", Rule(("get",), paths=("*",)), Attributes("get", path=""), True),
        ("paths are no resources", Rule(("get",), paths=("*",)), Attributes("get", "", "pods"), False),
    ],
)
def test_rules(case: str, rule: Rule, attributes: Attributes, allowed: bool) -> None:
    assert rule.allows(attributes) is allowed, case


@pytest.mark.parametrize(
    ("case", "method", "path", "message"),
    [
        (
            "a list in a namespace",
            "GET",
            "/api/v1/namespaces/default/pods",
            'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace '
            '"default"',
        ),
        (
            "an object of the cluster",
            "DELETE",
            "/api/v1/nodes/n",
            'nodes "n" is forbidden: User "system:anonymous" cannot delete resource "nodes" in API group "" at the '
            "cluster scope",
        ),
        (
            "a subresource",
            "POST",
            "/api/v1/namespaces/default/pods/p/binding",
            'pods "p" is forbidden: User "system:anonymous" cannot create resource "pods/binding" in API group "" in '
            'the namespace "default"',
        ),
        (
            "another group",
            "DELETE",
            "/apis/apps/v1/namespaces/default/replicasets",
            'replicasets.apps is forbidden: User "system:anonymous" cannot deletecollection resource "replicasets" in '
            'API group "apps" in the namespace "default"',
        ),
        (
            "a namespace is in itself",
            "GET",
            "/api/v1/namespaces/default",
            'namespaces "default" is forbidden: User "system:anonymous" cannot get resource "namespaces" in API group '
            '"" in the namespace "default"',
        ),
        (
            "a path",
            "GET",
            "/apis",
            'forbidden: User "system:anonymous" cannot get path "/apis"',
        ),
        (
            "a path with what could be taken for HTML",
            "GET",
            "/<b>&",
            'forbidden: User "system:anonymous" cannot get path "/&lt;b&gt;&amp;"',
        ),
    ],
)
def test_refusals_say_what_is_missing(server: ApiServer, case: str, method: str, path: str, message: str) -> None:
    assert Asking(server, ANONYMOUS).refused(method, path) == (403, "Forbidden", message), case


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
def test_anybody_may_know_whether_the_server_is_well(server: ApiServer, path: str) -> None:
    assert code_of(server, ANONYMOUS, "GET", path) == 200
    assert code_of(server, ANONYMOUS, "POST", path) == 403


def test_whoever_is_known_may_discover(server: ApiServer) -> None:
    assert code_of(server, ANNA, "GET", "/apis/apps/v1") == 200
    assert code_of(server, ANNA, "GET", "/api") == 200


def test_bindings_count_as_soon_as_they_are_there_and_no_longer(server: ApiServer) -> None:
    pods = "/api/v1/namespaces/default/pods"
    admin = LocalClient(server, ADMINISTRATOR)
    role, binding = (admin.resource(RBAC, kind) for kind in ("Role", "RoleBinding"))
    assert code_of(server, ANNA, "GET", pods) == 403
    create(server, a_binding("b", "Role/r", "Group writers", namespace="default"))
    _, _, message = Asking(server, ANNA).refused("GET", pods)
    assert message.endswith(': RBAC: role.rbac.authorization.k8s.io "r" not found')
    create(server, a_role("r", a_rule("list", "pods"), namespace="default"))
    assert code_of(server, ANNA, "GET", pods) == 200
    assert code_of(server, ANNA, "GET", "/api/v1/namespaces/kube-system/pods") == 403
    assert code_of(server, ANNA, "GET", "/api/v1/pods") == 403
    admin.update(role, a_role("r", a_rule("get", "pods"), namespace="default"))
    assert code_of(server, ANNA, "GET", pods) == 403
    admin.update(role, a_role("r", a_rule("list", "pods"), namespace="default"))
    admin.delete(binding, "default", "b")
    assert code_of(server, ANNA, "GET", pods) == 403


@pytest.mark.parametrize(
    ("case", "binding", "user", "allowed"),
    [
        ("a user", a_binding("b", "view", "User anna"), "anna", True),
        ("a group of that name is no user", a_binding("b", "view", "Group anna"), "anna", False),
        (
            "a service account of the namespace of a binding",
            a_binding("b", "view", "ServiceAccount robot", namespace="default"),
            "system:serviceaccount:default:robot",
            True,
        ),
        (
            "a service account of another",
            a_binding("b", "view", "ServiceAccount robot", namespace="default"),
            "system:serviceaccount:kube-system:robot",
            False,
        ),
        (
            "a service account that is named with its namespace",
            a_binding("b", "view", "ServiceAccount robot kube-system", namespace="default"),
            "system:serviceaccount:kube-system:robot",
            True,
        ),
    ],
)
def test_subjects(server: ApiServer, case: str, binding: dict[str, Any], user: str, allowed: bool) -> None:
    create(server, binding)
    code = code_of(server, User(user), "GET", "/api/v1/namespaces/default/pods")
    assert (code == 200) is allowed, case


def test_a_role_in_a_namespace_can_let_that_namespace_be_read(server: ApiServer) -> None:
    create(server, a_binding("b", "view", "User anna", namespace="kube-public"))
    assert code_of(server, ANNA, "GET", "/api/v1/namespaces/kube-public") == 200
    assert code_of(server, ANNA, "GET", "/api/v1/namespaces/default") == 403
    assert code_of(server, ANNA, "GET", "/api/v1/namespaces") == 403


@pytest.mark.parametrize(
    ("case", "selector", "code"),
    [
        ("the one that may be read", "metadata.name=c", 200),
        ("written in another way", "metadata.name==c", 200),
        ("among other conditions", "metadata.namespace=kube-system,metadata.name=c", 200),
        ("another", "metadata.name=d", 403),
        ("all but that one", "metadata.name!=c", 403),
        ("both, which is none", "metadata.name=d,metadata.name=c", 403),
        ("what cannot be understood", "metadata.name", 403),
        ("all", "", 403),
    ],
)
@pytest.mark.parametrize("watch", ["", "true"])
def test_lists_of_one_object_need_the_right_to_that_one(
    server: ApiServer, case: str, selector: str, code: int, watch: str
) -> None:
    create(server, a_role("r", a_rule("list watch", "configmaps", names="c"), namespace="kube-system"))
    create(server, a_binding("b", "Role/r", "User anna", namespace="kube-system"))
    query = {"fieldSelector": selector} | ({"watch": watch} if watch else {})
    assert code_of(server, ANNA, "GET", "/api/v1/namespaces/kube-system/configmaps", **query) == code, case


def test_an_update_that_creates_needs_the_right_to_create(server: ApiServer) -> None:
    create(server, a_role("r", a_rule("update", "roles", "rbac.authorization.k8s.io")))
    create(server, a_binding("b", "r", "User anna"))
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/new"
    role = {"metadata": {"name": "new"}, "rules": []}
    _, _, message = Asking(server, ANNA).refused("PUT", path, role)
    assert message == (
        'roles.rbac.authorization.k8s.io "new" is forbidden: User "anna" cannot create resource "roles" in API group '
        '"rbac.authorization.k8s.io" in the namespace "default"'
    )
    create(server, a_role("new", namespace="default"))
    Asking(server, ANNA).ok("PUT", path, role)


@pytest.mark.parametrize(
    ("verb", "path", "allowed"),
    [
        ("GET", "/api/v1/pods", True),
        ("GET", "/api/v1/nodes", True),
        ("POST", "/api/v1/namespaces/default/pods/p/binding", True),
        ("PATCH", "/api/v1/namespaces/default/pods/p/status", True),
        ("DELETE", "/api/v1/namespaces/default/pods/p", True),
        ("PATCH", "/api/v1/namespaces/default/pods/p", False),
        ("DELETE", "/api/v1/namespaces/default/pods", False),
        ("POST", "/api/v1/namespaces/default/pods/p/eviction", False),
        ("POST", "/api/v1/namespaces/default/pods", False),
        ("PATCH", "/api/v1/nodes/n", False),
        ("GET", "/api/v1/secrets", False),
        ("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication", True),
        ("GET", "/api/v1/namespaces/kube-system/configmaps/other", False),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/kube-scheduler", True),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/mine", True),
        ("PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/mine", False),
        ("PATCH", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c/status", True),
        ("PUT", "/api/v1/persistentvolumes/v", True),
        ("GET", "/apis/storage.k8s.io/v1/storageclasses", True),
        ("GET", "/apis/resource.k8s.io/v1beta2/devicetaintrules", True),
        ("PATCH", "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups/g/status", True),
        ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", True),
        ("GET", "/apis/scheduling.k8s.io/v1/priorityclasses", False),
        ("GET", "/metrics", False),
    ],
)
def test_the_scheduler_may_do_what_a_cluster_lets_it(server: ApiServer, verb: str, path: str, allowed: bool) -> None:
    user = server.access.user_of(bearer(SCHEDULER_TOKEN))
    assert (code_of(server, user, verb, path) != 403) is allowed


def test_the_administrator_needs_no_roles(server: ApiServer) -> None:
    admin = server.access.user_of(bearer(ADMIN_TOKEN))
    bindings = LocalClient(server, ADMINISTRATOR).resource(RBAC, "ClusterRoleBinding")
    LocalClient(server, ADMINISTRATOR).delete(bindings, "", "cluster-admin")
    assert code_of(server, admin, "GET", "/api/v1/secrets") == 200


# -- grants are never more than what is held

WORDS = some.sampled_from(["a", "b", "*"])
NAMES = some.sampled_from([(), ("n",), ("m", "n")])
RESOURCES = some.sampled_from(["pods", "pods/status", "*/status", "*"])
PATHS = some.sampled_from(["/a", "/a/*", "/a/b", "*"])


def lists(of: some.SearchStrategy[str]) -> some.SearchStrategy[tuple[str, ...]]:
    return some.lists(of, min_size=1, max_size=2).map(tuple)


RULES = some.one_of(
    some.builds(Rule, lists(WORDS), lists(WORDS), lists(RESOURCES), NAMES),
    some.builds(lambda verbs, paths: Rule(verbs, paths=paths), lists(WORDS), lists(PATHS)),
)
QUESTIONS = some.one_of(
    some.builds(
        Attributes,
        some.sampled_from(["a", "b", "c"]),
        some.sampled_from(["a", "b", "c"]),
        some.sampled_from(["pods", "nodes"]),
        some.sampled_from(["", "status", "scale"]),
        name=some.sampled_from(["", "m", "n", "o"]),
    ),
    some.builds(Attributes, some.sampled_from(["a", "c"]), path=some.sampled_from(["/a", "/a/b", "/a/b/c", "/c"])),
)


@given(some.lists(RULES, max_size=3), some.lists(RULES, max_size=2), some.lists(QUESTIONS, min_size=1, max_size=20))
def test_rules_that_are_held_allow_all_that_may_be_granted(
    held: list[Rule], wanted: list[Rule], questions: list[Attributes]
) -> None:
    if missing(held, wanted):
        return
    for question in questions:
        if any(rule.allows(question) for rule in wanted):
            assert any(rule.allows(question) for rule in held)
