"""The kinds of access: RBAC, authentication, authorization."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.rbac import (
    ClusterRoleBindingStrategy,
    ClusterRoleStrategy,
    RoleBindingStrategy,
    RoleStrategy,
)
from kubesched_controlplane.registry.declaration import CREATE_ONLY, Declaration, LoadOrder
from kubesched_controlplane.representation.tables.access import ROLE_BINDING_PRINTER

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource("rbac.authorization.k8s.io", "v1", "roles", "Role"),
        "grants permissions",
        RoleStrategy(),
        load_order=LoadOrder.CONFIGURATION,
    ),
    Declaration(
        Resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", printer=ROLE_BINDING_PRINTER),
        "grants permissions",
        RoleBindingStrategy(),
        load_order=LoadOrder.ROLE_BINDINGS,
    ),
    Declaration(
        Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False),
        "grants permissions; aggregation rules are kept",
        ClusterRoleStrategy(),
        load_order=LoadOrder.CONFIGURATION,
    ),
    Declaration(
        Resource(
            "rbac.authorization.k8s.io",
            "v1",
            "clusterrolebindings",
            "ClusterRoleBinding",
            namespaced=False,
            printer=ROLE_BINDING_PRINTER,
        ),
        "grants permissions",
        ClusterRoleBindingStrategy(),
        load_order=LoadOrder.ROLE_BINDINGS,
    ),
    Declaration(
        Resource("authentication.k8s.io", "v1", "tokenreviews", "TokenReview", namespaced=False, verbs=CREATE_ONLY),
        "is answered",
    ),
    Declaration(
        Resource(
            "authentication.k8s.io",
            "v1",
            "selfsubjectreviews",
            "SelfSubjectReview",
            namespaced=False,
            verbs=CREATE_ONLY,
        ),
        "is answered (`kubectl auth whoami`)",
    ),
    Declaration(
        Resource(
            "authorization.k8s.io",
            "v1",
            "subjectaccessreviews",
            "SubjectAccessReview",
            namespaced=False,
            verbs=CREATE_ONLY,
        ),
        "is answered",
    ),
    Declaration(
        Resource(
            "authorization.k8s.io",
            "v1",
            "selfsubjectaccessreviews",
            "SelfSubjectAccessReview",
            namespaced=False,
            verbs=CREATE_ONLY,
        ),
        "is answered (`kubectl auth can-i`)",
    ),
    Declaration(
        Resource(
            "authorization.k8s.io",
            "v1",
            "selfsubjectrulesreviews",
            "SelfSubjectRulesReview",
            namespaced=False,
            verbs=CREATE_ONLY,
        ),
        "is answered (`kubectl auth can-i --list`)",
    ),
    Declaration(
        Resource(
            "authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", verbs=CREATE_ONLY
        ),
        "is answered",
    ),
)
