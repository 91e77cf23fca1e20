"""What every cluster begins with."""

import pytest
from tests.support.api import Asking
from tests.support.roles import RBAC

from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.requests import ADMINISTRATOR, ANONYMOUS
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

AUTHENTICATION = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


@pytest.fixture
def api() -> Asking:
    api = Asking()
    bootstrap(LocalClient(api.server, ADMINISTRATOR))
    return api


def names(api: Asking, path: str) -> set[str]:
    return {item["metadata"]["name"] for item in api.ok("GET", path)["items"]}


def test_namespaces(api: Asking) -> None:
    assert names(api, "/api/v1/namespaces") == {"default", "kube-system", "kube-public", "kube-node-lease"}


def test_priority_classes(api: Asking) -> None:
    items = api.ok("GET", "/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
    assert {item["metadata"]["name"]: item["value"] for item in items} == {
        "system-cluster-critical": 2_000_000_000,
        "system-node-critical": 2_000_001_000,
    }


def test_the_authority_for_clients_is_told_only_if_there_is_one(api: Asking) -> None:
    assert not api.ok("GET", AUTHENTICATION).get("data")
    other = Asking()
    bootstrap(LocalClient(other.server, ADMINISTRATOR), client_ca="-----BEGIN CERTIFICATE-----\n")
    data = other.ok("GET", AUTHENTICATION)["data"]
    assert data["client-ca-file"] == data["requestheader-client-ca-file"] == "-----BEGIN CERTIFICATE-----\n"
    assert data["requestheader-username-headers"] == '["X-Remote-User"]'


def test_roles_and_bindings(api: Asking) -> None:
    assert names(api, f"/apis/{RBAC}/clusterroles") == {
        "cluster-admin",
        "admin",
        "edit",
        "view",
        "system:discovery",
        "system:basic-user",
        "system:public-info-viewer",
        "system:auth-delegator",
        "system:kube-scheduler",
        "system:volume-scheduler",
        "system:service-account-issuer-discovery",
        "system:node",
    }
    assert names(api, f"/apis/{RBAC}/clusterrolebindings") == {
        "cluster-admin",
        "system:discovery",
        "system:basic-user",
        "system:public-info-viewer",
        "system:kube-scheduler",
        "system:volume-scheduler",
        "system:service-account-issuer-discovery",
        "system:node",
    }
    in_system = f"/apis/{RBAC}/namespaces/kube-system"
    reader, locking = "extension-apiserver-authentication-reader", "system::leader-locking-kube-scheduler"
    assert names(api, f"{in_system}/roles") == {reader, locking}
    assert names(api, f"{in_system}/rolebindings") == {f"system::{reader}", locking}


def test_every_binding_has_its_role_and_every_rule_is_about_something_that_is_served(api: Asking) -> None:
    cluster_roles = names(api, f"/apis/{RBAC}/clusterroles")
    for item in api.ok("GET", f"/apis/{RBAC}/clusterrolebindings")["items"]:
        assert item["roleRef"]["name"] in cluster_roles
    resources = api.server.registry.catalog.resources
    served = {(each.group, each.plural) for each in resources}
    served |= {(each.group, f"{each.plural}/{name}") for each in resources for name in each.subresources}
    for role in ("admin", "edit", "view"):
        for rule in api.ok("GET", f"/apis/{RBAC}/clusterroles/{role}")["rules"]:
            for group in rule["apiGroups"]:
                assert {(group, resource) for resource in rule["resources"]} <= served


def test_the_same_again_changes_nothing(api: Asking) -> None:
    api.ok("PATCH", AUTHENTICATION, {"data": {"mine": "x"}}, "application/merge-patch+json")
    version = api.server.registry.store.version
    bootstrap(LocalClient(api.server, ADMINISTRATOR))
    assert api.server.registry.store.version == version


def test_what_goes_wrong_is_not_swallowed() -> None:
    server = ApiServer(access=lambda services: RoleBasedAccess(services, StaticTokens({})))
    with pytest.raises(ApiError, match='namespaces is forbidden: User "system:anonymous" cannot create'):
        bootstrap(LocalClient(server, ANONYMOUS))
