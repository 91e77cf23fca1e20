"""The strategy of API services, and the answer to requests for aggregated ones.

API services of this server are local; aggregated ones are stored, but the servers behind them cannot be reached.
"""

# upstream: kube-aggregator/pkg/apis/apiregistration/{validation/validation.go,v1/defaults.go},
# pkg/registry/apiservice/strategy.go, pkg/apiserver/handler_proxy.go (v1.36)

from base64 import b64decode

from kubesched.api.field_errors import as_json, invalid, required
from kubesched.api.go_text import quote
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.checks import dns_1035_problems, path_segment_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.registry.strategy import StrategyContext
from kubesched_controlplane.storage.store import Store

MARKS = Marks()
API_SERVICES = "apiservices.apiregistration.k8s.io"
UNREACHABLE = "there is no network to services here, so the API server behind it cannot be reached"


class APIServiceStrategy(KindStrategy):
    """The strategy of API services."""

    marks = MARKS
    unconditional_update = False
    qualifies_finalizers = False
    status_keeps_metadata = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name."""
        return path_segment_problems(name)

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and the condition Available."""
        super().prepare_create(new, context)
        if new["spec"].get("service") is None:
            reached = {"status": "True", "reason": "Local", "message": "Local APIServices are always available"}
        else:
            reached = {"status": "False", "reason": "FailedDiscoveryCheck", "message": UNREACHABLE}
        time = timestamp(context.now)
        new["status"] = {"conditions": [{"type": "Available", "lastTransitionTime": time, **reached}]}

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an API service."""
        spec, name = document["spec"], document["metadata"].get("name", "")
        group, version = spec.get("group") or "", spec.get("version") or ""
        problems = []
        if name != f"{version}.{group}" and not path_segment_problems(name):
            why = f'must be `spec.version+"."+spec.group`: {quote(f"{version}.{group}")}'
            problems.append(invalid("metadata.name", name, why))
        return problems + super().problems(document, context)


@MARKS.rule("APIServiceSpec")
def _spec_problems(path: str, spec: Document, fields: Fields) -> list[str]:
    version, problems = spec.get("version") or "", fields("group")
    if not spec.get("group") and version != "v1":
        problems.append(required("spec.group", "only v1 may have an empty group and it better be legacy kube"))
    problems += text_problems("spec.version", version, dns_1035_problems)
    return problems + fields("groupPriorityMinimum", "versionPriority") + _service_problems(spec, fields)


def _service_problems(spec: Document, fields: Fields) -> list[str]:
    service, bundle = spec.get("service"), b64decode(spec.get("caBundle") or "")
    unchecked, path = bool(spec.get("insecureSkipTLSVerify")), "spec.insecureSkipTLSVerify"
    problems = []
    if service is None:
        if bundle:
            why = "local APIServices may not have a caBundle"
            problems.append(invalid("spec.caBundle", f"{len(bundle)} bytes", why))
        if unchecked:
            why = "local APIServices may not have insecureSkipTLSVerify"
            problems.append(invalid(path, as_json(True), why))
        return problems
    problems += fields("service")
    if unchecked and bundle:
        problems.append(invalid(path, as_json(True), "may not be true if caBundle is present"))
    return problems


def refused_for(path: str, store: Store) -> ApiError | None:
    """Return the 503 error for a path of an aggregated API service, None for other paths."""
    parts = path.strip("/").split("/")
    if len(parts) < 3 or parts[0] != "apis":
        return None
    stored = store.get(API_SERVICES, "", f"{parts[2]}.{parts[1]}")
    service = None if stored is None else (stored.document().get("spec") or {}).get("service")
    if service is None:
        return None
    where = f"{service.get('namespace', '')}/{service.get('name', '')}"
    return ApiError(503, "ServiceUnavailable", f'the API service is served by "{where}": {UNREACHABLE}')
