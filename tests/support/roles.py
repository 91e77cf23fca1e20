"""Roles, bindings and an API server that asks for them, in the words of tests.

From a few texts to documents: `a_rule("get list", "pods")`, `a_binding("b", "view", "User anna")`.
"""

from collections.abc import Mapping
from typing import Any

from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

Document = dict[str, Any]
RBAC = "rbac.authorization.k8s.io/v1"


def a_guarded_server(tokens: Mapping[str, User] | None = None) -> ApiServer:
    """Return an API server with what every cluster has, whose users may do what roles say."""
    server = ApiServer(seed=1, access=lambda services: RoleBasedAccess(services, StaticTokens(tokens)))
    bootstrap(LocalClient(server, ADMINISTRATOR))
    return server


def a_rule(verbs: str, resources: str, group: str = "", names: str = "") -> Document:
    """Return a rule about resources of a group."""
    rule = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return {**rule, "resourceNames": names.split()} if names else rule


def a_role(name: str, *rules: Document, namespace: str = "") -> Document:
    """Return a role in a namespace, or of the cluster."""
    return {**_object("Role", name, namespace), "rules": list(rules)}


def a_binding(name: str, role: str, *subjects: str, namespace: str = "") -> Document:
    """Return a binding in a namespace, or of the cluster.

    The role is a cluster role, or `Role/NAME`; a subject is a kind, a name and, for a service account, a namespace.
    """
    kind, _, role_name = role.rpartition("/")
    return {
        **_object("RoleBinding", name, namespace),
        "roleRef": {"kind": kind or "ClusterRole", "name": role_name},
        "subjects": [dict(zip(("kind", "name", "namespace"), subject.split(), strict=False)) for subject in subjects],
    }


def create(server: ApiServer, *documents: Document) -> None:
    """Create objects on behalf of the administrator."""
    client = LocalClient(server, ADMINISTRATOR)
    for document in documents:
        client.create(client.resource(document["apiVersion"], document["kind"]), document)


def _object(kind: str, name: str, namespace: str) -> Document:
    if namespace:
        return {"apiVersion": RBAC, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
    return {"apiVersion": RBAC, "kind": f"Cluster{kind}", "metadata": {"name": name}}
