"""The strategy of certificate signing requests: the user of the request is recorded, approval is a subresource."""

# upstream: pkg/apis/certificates/validation/validation.go, pkg/registry/certificates/certificates/strategy.go,
# plugin/pkg/admission/certificates/{approval,signing,subjectrestriction} (v1.36)

from base64 import b64decode

from cryptography import x509
from cryptography.x509.oid import NameOID

from kubesched.api.field_errors import child, duplicate, forbidden, index, invalid, required
from kubesched.api.go_text import quote
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import forbidden as not_allowed
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.checks import dns_label_problems, one_of, part, too_long
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
REQUESTS = "certificatesigningrequests.certificates.k8s.io"
CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"
APPROVED, DENIED, FAILED = "Approved", "Denied", "Failed"
_DECISIONS = (APPROVED, DENIED)
_FINAL = (*_DECISIONS, FAILED)
_LEGACY = "kubernetes.io/legacy-unknown"
_MASTERS = "system:masters"


class CertificateSigningRequestStrategy(KindStrategy):
    """The strategy of certificate signing requests; after their creation only their status changes."""

    marks = MARKS

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return no problems: any name is valid."""
        return ()

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Write the user of the request into the spec, and clear the status."""
        spec, user = part(new, "spec"), context.user
        for field in ("username", "uid", "groups", "extra"):
            spec.pop(field, None)
        found = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
        spec |= {field: value for field, value in found.items() if value}
        if user.extra:
            spec["extra"] = {key: list(values) for key, values in user.extra.items()}
        new["status"] = {}

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new object. Raises ApiError 403 for a client certificate of system:masters."""
        problems = super().validate_create(new, context)
        if not problems and new["spec"]["signerName"] == CLIENT_SIGNER and _MASTERS in _organizations(new):
            why = f"use of {CLIENT_SIGNER} signer with {_MASTERS} group is not allowed"
            raise not_allowed(context.resource, new["metadata"].get("name", ""), why)
        return problems

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the metadata."""
        for field in ("spec", "status"):
            new[field] = old.get(field) or {}

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return no problems: spec and status do not change."""
        return []

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the status, and its conditions Approved and Denied; set the times of new conditions."""
        super().prepare_status(new, old, context)
        conditions = part(new, "status").get("conditions") or []
        for kind in _DECISIONS:
            before = _of_type(old, kind)
            places = [place for place, each in enumerate(conditions) if each.get("type") == kind]
            if len(places) == len(before):
                for place, each in zip(places, before, strict=True):
                    conditions[place] = each
        _fill_in_times(new, old, context)

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status, which may add a certificate but no decision."""
        problems = _status_problems(new, old)
        for kind in _DECISIONS:
            if len(_of_type(new, kind)) > len(_of_type(old, kind)):
                problems.append(
                    forbidden("status.conditions", f"updates may not add a condition of type {quote(kind)}")
                )
        then = _certificate(old)
        if then and then != _certificate(new):
            why = "updates may not modify existing certificate content"
            problems.append(forbidden("status.certificate", why))
        return problems

    def fields(self, document: Document) -> dict[str, str]:
        """Return the values of the selectable fields."""
        return {"spec.signerName": (document.get("spec") or {}).get("signerName") or ""}


class CertificateApprovalStrategy(CertificateSigningRequestStrategy):
    """The strategy of the subresource `approval`: only conditions change."""

    has_status = False

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the conditions, and set the times of new conditions."""
        conditions = (new.get("status") or {}).get("conditions") or []
        new["spec"] = old["spec"]
        new["status"] = {**(old.get("status") or {}), "conditions": conditions}
        _fill_in_times(new, old, context)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an approval or denial."""
        return _status_problems(new, old)


# -- spec


def read_request(document: Document) -> x509.CertificateSigningRequest:
    """Return the decoded certificate request. Raises ValueError if it is malformed or its signature is wrong."""
    text = b64decode((document.get("spec") or {}).get("request") or "")
    if not text.lstrip().startswith(b"-----BEGIN CERTIFICATE REQUEST-----"):
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    found = x509.load_pem_x509_csr(text)
    if not found.is_signature_valid:
        raise ValueError("x509: signature of the request is not valid")
    return found


def _organizations(document: Document) -> list[str]:
    names = read_request(document).subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return [str(each.value) for each in names]


@MARKS.rule("CertificateSigningRequestSpec")
def _request_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    problems = []
    try:
        read_request({"spec": spec})
    except ValueError as error:
        problems.append(invalid("spec.request", spec.get("request"), str(error)))
    problems += fields("usages")
    signer = spec.get("signerName") or ""
    if signer == _LEGACY:
        why = "the legacy signerName is not allowed via this API version"
        problems.append(invalid("spec.signerName", signer, why))
    else:
        problems += signer_problems("spec.signerName", signer)
    return problems + fields("expirationSeconds")


def signer_problems(path: str, signer: str) -> list[str]:
    """Return the problems of a signer name."""
    if not signer:
        return [required(path)]
    domain, slash, name = signer.partition("/")
    if not slash or "/" in name:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [invalid(path, signer, why)]
    problems = [too_long(path, 253)] if len(domain) > 253 else []
    labels = domain.split(".")
    for label in labels:
        if reasons := dns_label_problems(label):
            problems += [invalid(path, domain, f"validating label {quote(label)}: {why}") for why in reasons]
            break
    if len(labels) < 2:
        problems.append(invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    for label in name.split("."):
        if reasons := list(subdomain_problems(label)):
            problems += [invalid(path, name, f"validating label {quote(label)}: {why}") for why in reasons]
            break
    return problems


# -- status


def _status_problems(new: Document, old: Document) -> list[str]:
    path, conditions = "status.conditions", (new.get("status") or {}).get("conditions") or ()
    problems = []
    kinds: list[str] = []
    for number, condition in enumerate(conditions):
        here, kind, status = index(path, number), condition.get("type") or "", condition.get("status") or ""
        if not kind:
            problems.append(required(child(here, "type")))
        allowed = ("True",) if kind in _FINAL else ("False", "True", "Unknown")
        problems += one_of(child(here, "status"), status, allowed) if status else [required(child(here, "status"))]
        if kind in _DECISIONS and any(each != kind and each in _DECISIONS for each in kinds):
            problems.append(invalid(path, kind, "Approved and Denied conditions are mutually exclusive"))
        if kind in kinds:
            problems.append(duplicate(child(here, "type"), kind))
        kinds.append(kind)
    problems += _certificate_problems("status.certificate", _certificate(new))
    for kind in _FINAL:
        if len(_of_type(new, kind)) < len(_of_type(old, kind)):
            problems.append(forbidden(path, f"updates may not remove a condition of type {quote(kind)}"))
    return problems


def _certificate_problems(path: str, text: str) -> list[str]:
    if not text:
        return []
    try:
        x509.load_pem_x509_certificates(b64decode(text))
    except ValueError:
        return [invalid(path, "<certificate data>", "must contain at least one CERTIFICATE PEM block")]
    return []


def _certificate(document: Document) -> str:
    return (document.get("status") or {}).get("certificate") or ""


def _of_type(document: Document, kind: str) -> list[Document]:
    return [each for each in (document.get("status") or {}).get("conditions") or () if each.get("type") == kind]


def _fill_in_times(new: Document, old: Document, context: StrategyContext) -> None:
    now = timestamp(context.now)
    for condition in new["status"].get("conditions") or ():
        condition["lastUpdateTime"] = condition.get("lastUpdateTime") or now
        if not condition.get("lastTransitionTime"):
            same = (
                each for each in _of_type(old, condition.get("type") or "") if each["status"] == condition["status"]
            )
            condition["lastTransitionTime"] = next((each.get("lastTransitionTime") for each in same), None) or now
