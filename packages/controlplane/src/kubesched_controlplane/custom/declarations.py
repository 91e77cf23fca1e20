"""The kinds of API extensions."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.custom.definitions import CustomResourceDefinitionStrategy
from kubesched_controlplane.registry.declaration import STATUS, Declaration, LoadOrder

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            "CustomResourceDefinition",
            namespaced=False,
            short_names=("crd", "crds"),
            categories=("api-extensions",),
            subresources=STATUS,
        ),
        "its kinds are served",
        CustomResourceDefinitionStrategy(),
        load_order=LoadOrder.DEFINITIONS,
    ),
)
