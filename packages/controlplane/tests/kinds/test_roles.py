"""The rules of roles and bindings: what they must look like, and that nobody gives away more than they hold."""

from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.roles import RBAC, a_binding, a_guarded_server, a_role, a_rule, create

from kubesched_controlplane.api.requests import User
from kubesched_controlplane.server.server import ApiServer

GROUP = "rbac.authorization.k8s.io"
ROLES = f"/apis/{RBAC}/namespaces/default/roles"
BINDINGS = f"/apis/{RBAC}/namespaces/default/rolebindings"
CLUSTER_ROLES = f"/apis/{RBAC}/clusterroles"
CLUSTER_BINDINGS = f"/apis/{RBAC}/clusterrolebindings"
ANNA = User("anna", ("writers", "system:authenticated"))


@pytest.fixture
def server() -> ApiServer:
    return a_guarded_server()


@pytest.fixture
def admin(server: ApiServer) -> Asking:
    return Asking(server)


@pytest.fixture
def anna(server: ApiServer) -> Asking:
    return Asking(server, ANNA)


def test_groups_of_roles_and_subjects_are_filled_in(admin: Asking) -> None:
    made = admin.ok("POST", BINDINGS, a_binding("b", "view", "User anna", "ServiceAccount robot", namespace="default"))
    assert made["roleRef"] == {"apiGroup": GROUP, "kind": "ClusterRole", "name": "view"}
    assert [subject.get("apiGroup") for subject in made["subjects"]] == [GROUP, None]
    assert "generation" not in made["metadata"]


def test_names_may_have_colons_and_what_is_put_is_created(admin: Asking) -> None:
    role = a_role("system::mine:A", a_rule("get", "pods"), namespace="default")
    assert admin.ask("PUT", f"{ROLES}/system::mine:A", role)[0] == 201


BOTH = {"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["pods"]}


@pytest.mark.parametrize(
    ("case", "path", "document", "problem"),
    [
        (
            "a name that cannot stand in a path",
            CLUSTER_ROLES,
            {"metadata": {"name": "a%b"}},
            """metadata.name: Invalid value: "a%b": may not contain '%'""",
        ),
        (
            "a rule without anything",
            CLUSTER_ROLES,
            {"rules": [{}]},
            "[rules[0].verbs: Required value: verbs must contain at least one value, "
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group, "
            "rules[0].resources: Required value: resource rules must supply at least one resource]",
        ),
        (
            "paths and resources at once",
            CLUSTER_ROLES,
            {"rules": [a_rule("get", "pods"), BOTH]},
            'rules[1].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and '
            "non-resource URLs",
        ),
        (
            "paths in a namespace",
            ROLES,
            {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
            'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
        ),
        (
            "an aggregation of nothing",
            CLUSTER_ROLES,
            {"aggregationRule": {}},
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if "
            "aggregationRule is non-nil",
        ),
        (
            "an aggregation by a malformed selector",
            CLUSTER_ROLES,
            {"aggregationRule": {"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "Is"}]}]}},
            "[aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "
            '"Is": not a valid selector operator, aggregationRule.clusterRoleSelectors[0]: Invalid value: null: '
            "invalid label selector.]",
        ),
        (
            "no role",
            BINDINGS,
            {},
            '[roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole", '
            "roleRef.name: Required value]",
        ),
        (
            "a role for the cluster",
            CLUSTER_BINDINGS,
            {"roleRef": {"kind": "Role", "name": "a", "apiGroup": "x"}},
            f'[roleRef.apiGroup: Unsupported value: "x": supported values: "{GROUP}", '
            'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"]',
        ),
        (
            "a role whose name cannot stand in a path",
            CLUSTER_BINDINGS,
            {"roleRef": {"kind": "ClusterRole", "name": ".."}},
            """roleRef.name: Invalid value: "..": may not be '..'""",
        ),
        (
            "subjects of all kinds of wrong",
            CLUSTER_BINDINGS,
            {
                "roleRef": {"kind": "ClusterRole", "name": "view"},
                "subjects": [
                    {"kind": "User"},
                    {"kind": "Robot", "name": "r"},
                    {"kind": "Group", "name": "g", "apiGroup": "x"},
                    {"kind": "ServiceAccount", "name": "a", "apiGroup": "x"},
                ],
            },
            "[subjects[0].name: Required value, "
            'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group", '
            f'subjects[2].apiGroup: Unsupported value: "x": supported values: "{GROUP}", '
            'subjects[3].apiGroup: Unsupported value: "x": supported values: "", '
            "subjects[3].namespace: Required value]",
        ),
    ],
)
def test_what_is_malformed_is_refused(
    admin: Asking, case: str, path: str, document: dict[str, Any], problem: str
) -> None:
    named = {"metadata": {"name": "it"}, **document}
    code, reason, message = admin.refused("POST", path, named)
    assert (code, reason, message.partition(" is invalid: ")[2]) == (422, "Invalid", problem), case


@pytest.mark.parametrize(
    "document",
    [
        {"rules": None},
        {"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": None}]},
    ],
)
def test_null_is_nothing(admin: Asking, document: dict[str, Any]) -> None:
    assert admin.ask("POST", CLUSTER_ROLES, {"metadata": {"name": "it"}, **document})[0] == 201
    assert admin.ask("POST", CLUSTER_BINDINGS, {**a_binding("it", "it"), "subjects": None})[0] == 201


@pytest.mark.parametrize(
    ("path", "document"),
    [
        (CLUSTER_ROLES, {"rules": "all"}),
        (CLUSTER_ROLES, {"rules": ["all"]}),
        (CLUSTER_ROLES, {"rules": [{"verbs": "get"}]}),
        (CLUSTER_ROLES, {"rules": [{"verbs": [1], "apiGroups": [""], "resources": ["pods"]}]}),
        (CLUSTER_ROLES, {"aggregationRule": []}),
        (CLUSTER_ROLES, {"aggregationRule": {"clusterRoleSelectors": [1]}}),
        (CLUSTER_BINDINGS, {"roleRef": "view"}),
        (CLUSTER_BINDINGS, {"roleRef": {"kind": 1, "name": []}}),
        (CLUSTER_BINDINGS, {"roleRef": {"kind": "ClusterRole", "name": "view"}, "subjects": {"kind": "User"}}),
        (CLUSTER_BINDINGS, {"roleRef": {"kind": "ClusterRole", "name": "view"}, "subjects": ["anna"]}),
        (CLUSTER_BINDINGS, {"roleRef": {"kind": "ClusterRole", "name": "view"}, "subjects": [{"kind": {}}]}),
    ],
)
def test_wrong_types_are_bad_requests(admin: Asking, path: str, document: dict[str, Any]) -> None:
    assert admin.ask("POST", path, {"metadata": {"name": "it"}, **document})[0] == 400


def test_a_binding_keeps_its_role(admin: Asking) -> None:
    admin.ok("POST", BINDINGS, a_binding("b", "view", "User anna", namespace="default"))
    admin.ok("PUT", f"{BINDINGS}/b", a_binding("b", "view", "User ben", namespace="default"))
    _, _, message = admin.refused("PUT", f"{BINDINGS}/b", a_binding("b", "edit", "User ben", namespace="default"))
    assert message == (
        f'RoleBinding.{GROUP} "b" is invalid: roleRef: Invalid value: '
        f'{{"APIGroup":"{GROUP}","Kind":"ClusterRole","Name":"edit"}}: cannot change roleRef'
    )


# -- nobody gives away more than they hold

WRITES_ROLES = a_rule("create update patch", "roles rolebindings clusterroles clusterrolebindings", GROUP)
FOR_ANNA = (a_role("writes-roles", WRITES_ROLES), a_binding("anna-writes-roles", "writes-roles", "User anna"))


def test_what_is_not_held_is_not_put_into_a_role(server: ApiServer, anna: Asking) -> None:
    create(server, *FOR_ANNA, a_role("r", a_rule("get", "pods", names="p"), namespace="default"))
    create(server, a_binding("r", "Role/r", "Group writers", namespace="default"))
    wanted = a_role("new", a_rule("get list", "pods secrets"), a_rule("get", "pods", names="p"), namespace="default")
    code, reason, message = anna.refused("POST", ROLES, wanted)
    assert (code, reason) == (403, "Forbidden")
    assert message == (
        f'roles.{GROUP} "new" is forbidden: user "anna" (groups=["writers" "system:authenticated"]) is attempting to '
        "grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
    )
    anna.ok("POST", ROLES, a_role("new", a_rule("get", "pods", names="p"), namespace="default"))
    anna.refused("POST", CLUSTER_ROLES, a_role("new", a_rule("get", "pods", names="p")))


def test_what_is_not_held_is_not_patched_or_put_into_a_role_either(server: ApiServer, anna: Asking) -> None:
    create(server, *FOR_ANNA, a_role("r", namespace="default"))
    more = a_role("r", a_rule("*", "*", "*"), namespace="default")
    merge = "application/merge-patch+json"
    assert anna.ask("PUT", f"{ROLES}/r", more)[0] == 403
    assert anna.ask("PATCH", f"{ROLES}/r", {"rules": more["rules"]}, merge)[0] == 403
    assert anna.ask("PUT", f"{ROLES}/other", {**more, "metadata": {"name": "other"}})[0] == 403
    anna.ok("PATCH", f"{ROLES}/r", {"metadata": {"labels": {"a": "b"}}}, merge)


def test_housekeeping_of_a_role_grants_nothing(server: ApiServer, anna: Asking) -> None:
    create(server, *FOR_ANNA, a_role("strong", a_rule("*", "*", "*")))
    merge = "application/merge-patch+json"
    anna.ok("PATCH", f"{CLUSTER_ROLES}/strong", {"metadata": {"finalizers": ["example.com/hold"]}}, merge)
    assert anna.ask("PATCH", f"{CLUSTER_ROLES}/strong", {"metadata": {"labels": {"a": "b"}}}, merge)[0] == 403


def test_roles_that_are_not_held_are_not_bound(server: ApiServer, anna: Asking) -> None:
    create(server, *FOR_ANNA)
    code, _, message = anna.refused("POST", CLUSTER_BINDINGS, a_binding("b", "cluster-admin", "User anna"))
    assert code == 403
    assert message == (
        f'clusterrolebindings.{GROUP} "b" is forbidden: user "anna" (groups=["writers" "system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n'
        '{NonResourceURLs:["*"], Verbs:["*"]}'
    )
    anna.ok("POST", CLUSTER_BINDINGS, a_binding("b", "system:basic-user", "User ben"))
    gone = a_binding("c", "gone", "User ben")
    assert anna.refused("POST", CLUSTER_BINDINGS, gone) == (404, "NotFound", f'clusterroles.{GROUP} "gone" not found')


def test_a_binding_to_a_strong_role_takes_no_new_subjects(server: ApiServer, anna: Asking) -> None:
    create(server, *FOR_ANNA)
    strong = f"{CLUSTER_BINDINGS}/cluster-admin"
    assert anna.ask("PUT", strong, a_binding("cluster-admin", "cluster-admin", "User anna"))[0] == 403


def test_the_verbs_bind_and_escalate_let_more_be_granted(server: ApiServer, anna: Asking) -> None:
    create(server, *FOR_ANNA, a_role("binds", a_rule("bind", "clusterroles", GROUP, names="view")))
    create(server, a_binding("binds", "binds", "User anna", namespace="default"))
    anna.ok("POST", BINDINGS, a_binding("b", "view", "User ben", namespace="default"))
    assert anna.ask("POST", BINDINGS, a_binding("c", "edit", "User ben", namespace="default"))[0] == 403
    assert anna.ask("POST", CLUSTER_BINDINGS, a_binding("b", "view", "User ben"))[0] == 403
    create(server, a_role("escalates", a_rule("escalate", "roles", GROUP)))
    create(server, a_binding("escalates", "escalates", "User anna", namespace="default"))
    anna.ok("POST", ROLES, a_role("new", a_rule("*", "*", "*"), namespace="default"))
    assert anna.ask("POST", CLUSTER_ROLES, a_role("new", a_rule("*", "*", "*")))[0] == 403


def test_only_who_holds_everything_aggregates(server: ApiServer, anna: Asking) -> None:
    create(server, *FOR_ANNA)
    selectors = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    document = {**a_role("sum"), "aggregationRule": selectors}
    _, _, message = anna.refused("POST", CLUSTER_ROLES, document)
    assert message.endswith('"sum" is forbidden: must have cluster-admin privileges to use the aggregationRule')
    create(server, a_binding("anna-is-admin", "cluster-admin", "User anna"))
    anna.ok("POST", CLUSTER_ROLES, document)
