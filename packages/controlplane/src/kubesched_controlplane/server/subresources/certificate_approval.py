"""`certificatesigningrequests/approval`: changes the conditions if the user may approve requests for the signer."""

# upstream: plugin/pkg/admission/certificates/approval/admission.go (v1.36)

from kubesched.api.go_text import quote
from kubesched_controlplane.access.rules import Attributes
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.api.statuses import forbidden
from kubesched_controlplane.kinds.certificates import CertificateApprovalStrategy
from kubesched_controlplane.server.verbs.verbs import Verbs

_APPROVAL = CertificateApprovalStrategy()


def approve(verbs: Verbs, target: Target, request: Request) -> Response:
    """Change the conditions of a CertificateSigningRequest; raises ApiError 403 unless the user may approve it."""
    if target.verb == "get":
        return verbs.reading.get(target, request)
    stored = verbs.registry.store.get(target.resource.prefix, "", target.name)
    if stored is not None:
        _check_approver(verbs, target, request, stored.document()["spec"].get("signerName") or "")
    if target.verb == "patch":
        return verbs.writing.patch(target, request, _APPROVAL)
    return verbs.writing.update(target, request, _APPROVAL)


def _check_approver(verbs: Verbs, target: Target, request: Request, signer: str) -> None:
    domain = f"{signer.partition('/')[0]}/*"
    for name in (signer, domain):
        wanted = Attributes("approve", "certificates.k8s.io", "signers", name=name)
        if verbs.access.decide(request.user, wanted).allowed:
            return
    why = f"user not permitted to approve requests with signerName {quote(signer)}"
    raise forbidden(target.resource, target.name, why)
