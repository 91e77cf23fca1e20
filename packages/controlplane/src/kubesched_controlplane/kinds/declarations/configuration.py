"""The kinds of the API server's configuration: admission, API services, certificates, flow control."""

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.admission.policies import (
    MutatingAdmissionPolicyStrategy,
    PolicyBindingStrategy,
    ValidatingAdmissionPolicyStrategy,
)
from kubesched_controlplane.kinds.admission.webhooks import WebhookConfigurationStrategy
from kubesched_controlplane.kinds.api_services import APIServiceStrategy
from kubesched_controlplane.kinds.certificates import CertificateSigningRequestStrategy
from kubesched_controlplane.kinds.flow_control import FlowSchemaStrategy, PriorityLevelStrategy
from kubesched_controlplane.registry.declaration import STATUS, Declaration
from kubesched_controlplane.representation.tables.access import WEBHOOK_CONFIGURATION_PRINTER
from kubesched_controlplane.representation.tables.admission import (
    API_SERVICE_PRINTER,
    CERTIFICATE_SIGNING_REQUEST_PRINTER,
    FLOW_SCHEMA_PRINTER,
    MUTATING_ADMISSION_POLICY_PRINTER,
    POLICY_BINDING_PRINTER,
    PRIORITY_LEVEL_CONFIGURATION_PRINTER,
    VALIDATING_ADMISSION_POLICY_PRINTER,
)
from kubesched_controlplane.representation.tables.printing import Printer


def _admission(
    plural: str, kind: str, printer: Printer, subresources: dict[str, tuple[str, ...]] | None = None
) -> Resource:
    return Resource(
        "admissionregistration.k8s.io",
        "v1",
        plural,
        kind,
        namespaced=False,
        categories=("api-extensions",),
        subresources=subresources or {},
        printer=printer,
    )


DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        _admission("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", WEBHOOK_CONFIGURATION_PRINTER),
        "webhooks with a URL are called; services are not reached",
        WebhookConfigurationStrategy(),
    ),
    Declaration(
        _admission("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", WEBHOOK_CONFIGURATION_PRINTER),
        "webhooks with a URL are called; services are not reached",
        WebhookConfigurationStrategy(),
    ),
    Declaration(
        _admission(
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            VALIDATING_ADMISSION_POLICY_PRINTER,
            subresources=STATUS,
        ),
        "is evaluated for every write that it matches",
        ValidatingAdmissionPolicyStrategy(),
    ),
    Declaration(
        _admission("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", POLICY_BINDING_PRINTER),
        "applies a policy: Deny and Warn; Audit has no audit log",
        PolicyBindingStrategy(),
    ),
    Declaration(
        _admission("mutatingadmissionpolicies", "MutatingAdmissionPolicy", MUTATING_ADMISSION_POLICY_PRINTER),
        "changes objects before they are stored",
        MutatingAdmissionPolicyStrategy(),
    ),
    Declaration(
        _admission("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", POLICY_BINDING_PRINTER),
        "applies a policy",
        PolicyBindingStrategy(),
    ),
    Declaration(
        Resource(
            "apiregistration.k8s.io",
            "v1",
            "apiservices",
            "APIService",
            namespaced=False,
            categories=("api-extensions",),
            subresources=STATUS,
            printer=API_SERVICE_PRINTER,
        ),
        "one for each served version; APIServices of other servers are kept, and requests for them get 503",
        APIServiceStrategy(),
    ),
    Declaration(
        Resource(
            "certificates.k8s.io",
            "v1",
            "certificatesigningrequests",
            "CertificateSigningRequest",
            namespaced=False,
            short_names=("csr",),
            subresources={"approval": ("get", "patch", "update"), **STATUS},
            printer=CERTIFICATE_SIGNING_REQUEST_PRINTER,
        ),
        "is approved or denied, but not signed",
        CertificateSigningRequestStrategy(),
    ),
    Declaration(
        Resource(
            "flowcontrol.apiserver.k8s.io",
            "v1",
            "flowschemas",
            "FlowSchema",
            namespaced=False,
            subresources=STATUS,
            printer=FLOW_SCHEMA_PRINTER,
        ),
        "kept, with those of a new cluster; no request waits",
        FlowSchemaStrategy(),
    ),
    Declaration(
        Resource(
            "flowcontrol.apiserver.k8s.io",
            "v1",
            "prioritylevelconfigurations",
            "PriorityLevelConfiguration",
            namespaced=False,
            subresources=STATUS,
            printer=PRIORITY_LEVEL_CONFIGURATION_PRINTER,
        ),
        "kept, with those of a new cluster; no request waits",
        PriorityLevelStrategy(),
    ),
)
