"""The kinds of dynamic resource allocation."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.device.claims import ResourceClaimStrategy, ResourceClaimTemplateStrategy
from kubesched_controlplane.kinds.device.slices import (
    DeviceClassStrategy,
    DeviceTaintRuleStrategy,
    ResourceSliceStrategy,
)
from kubesched_controlplane.registry.declaration import STATUS, Declaration, LoadOrder
from kubesched_controlplane.representation.tables.devices import (
    DEVICE_TAINT_RULE_PRINTER,
    RESOURCE_CLAIM_PRINTER,
    RESOURCE_SLICE_PRINTER,
)
from kubesched_controlplane.representation.tables.printing import aged

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False, printer=aged),
        "selects devices for claims",
        DeviceClassStrategy(),
        load_order=LoadOrder.CLASSES,
    ),
    Declaration(
        Resource(
            "resource.k8s.io",
            "v1",
            "resourceclaims",
            "ResourceClaim",
            subresources=STATUS,
            printer=RESOURCE_CLAIM_PRINTER,
        ),
        "is allocated by the scheduler, reserved for pods and released",
        ResourceClaimStrategy(),
        load_order=LoadOrder.CLAIMS,
    ),
    Declaration(
        Resource("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", printer=aged),
        "the template of claims for pods",
        ResourceClaimTemplateStrategy(),
        load_order=LoadOrder.VOLUMES,
    ),
    Declaration(
        Resource(
            "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False, printer=RESOURCE_SLICE_PRINTER
        ),
        "kept; the scheduler allocates its devices",
        ResourceSliceStrategy(),
        load_order=LoadOrder.NODE_RESOURCES,
    ),
    Declaration(
        Resource(
            "resource.k8s.io",
            "v1beta2",
            "devicetaintrules",
            "DeviceTaintRule",
            namespaced=False,
            subresources=STATUS,
            printer=DEVICE_TAINT_RULE_PRINTER,
        ),
        "kept; the scheduler follows it with the gates on",
        DeviceTaintRuleStrategy(),
        load_order=LoadOrder.NODE_RESOURCES,
    ),
)
