"""The kinds of the API server's configuration: admission, API services, certificates, flow control."""

from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.kinds.admission.policies import (
    MutatingAdmissionPolicyStrategy,
    PolicyBindingStrategy,
    ValidatingAdmissionPolicyStrategy,
)
from kubesched.controlplane.kinds.admission.webhooks import WebhookConfigurationStrategy
from kubesched.controlplane.kinds.api_services import APIServiceStrategy
from kubesched.controlplane.kinds.certificates import CertificateSigningRequestStrategy
from kubesched.controlplane.kinds.flow_control import FlowSchemaStrategy, PriorityLevelStrategy
from kubesched.controlplane.registry.declaration import STATUS, Declaration

DECLARATIONS: tuple[Declaration, ...] = (
    Declaration(
        Resource(
            "admissionregistration.k8s.io",
            "v1",
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            namespaced=False,
            categories=("api-extensions",),
        ),
        "webhooks with a URL are called; services are not reached",
        WebhookConfigurationStrategy(mutating=False),
    ),
    Declaration(
        Resource(
            "admissionregistration.k8s.io",
            "v1",
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            namespaced=False,
            categories=("api-extensions",),
        ),
        "webhooks with a URL are called; services are not reached",
        WebhookConfigurationStrategy(mutating=True),
    ),
    Declaration(
        Resource(
            "admissionregistration.k8s.io",
            "v1",
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            namespaced=False,
            categories=("api-extensions",),
            subresources=STATUS,
        ),
        "is evaluated for every write that it matches",
        ValidatingAdmissionPolicyStrategy(),
    ),
    Declaration(
        Resource(
            "admissionregistration.k8s.io",
            "v1",
            "validatingadmissionpolicybindings",
            "ValidatingAdmissionPolicyBinding",
            namespaced=False,
            categories=("api-extensions",),
        ),
        "puts a policy to work: Deny and Warn; there is no audit log for Audit",
        PolicyBindingStrategy(validating=True),
    ),
    Declaration(
        Resource(
            "admissionregistration.k8s.io",
            "v1",
            "mutatingadmissionpolicies",
            "MutatingAdmissionPolicy",
            namespaced=False,
            categories=("api-extensions",),
        ),
        "changes objects before they are stored",
        MutatingAdmissionPolicyStrategy(),
    ),
    Declaration(
        Resource(
            "admissionregistration.k8s.io",
            "v1",
            "mutatingadmissionpolicybindings",
            "MutatingAdmissionPolicyBinding",
            namespaced=False,
            categories=("api-extensions",),
        ),
        "puts a policy to work",
        PolicyBindingStrategy(validating=False),
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
        ),
        "one for each version that is served here; those of other servers are kept, and requests for them get 503",
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
        ),
        "is approved or denied; nobody signs",
        CertificateSigningRequestStrategy(),
    ),
    Declaration(
        Resource(
            "flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", namespaced=False, subresources=STATUS
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
        ),
        "kept, with those of a new cluster; no request waits",
        PriorityLevelStrategy(),
    ),
)
