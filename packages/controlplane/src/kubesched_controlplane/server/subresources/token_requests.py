"""TokenRequests: POST to the subresource `token` of a service account.

From a TokenRequest to the same with a token in its status.
"""

# upstream: pkg/registry/core/serviceaccount/storage/token.go, pkg/apis/authentication/validation/validation.go (v1.36)

from datetime import datetime, timedelta
from typing import Any, Final

from kubesched.api.field_errors import invalid as invalid_value
from kubesched_controlplane.access.service_account_tokens import ACCOUNTS, PRIVATE, USER_PREFIX
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.query_options import is_dry_run
from kubesched_controlplane.api.requests import Request, Response, Target, answer
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import bad_request, conflict, invalid, not_found
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.token_issuer import ISSUER, Claims
from kubesched_controlplane.server.verbs.verbs import Verbs
from kubesched_controlplane.server.verbs.writing import with_warnings
from kubesched_controlplane.storage.store import Stored

TOKEN_REQUEST: Final = Resource("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest")
_HOUR: Final = 3600
_SHORTEST, _LONGEST = 600, 1 << 32
# expirationSeconds of projected volumes; such tokens are valid longer, for programs that do not reload them
_PROJECTED, _EXTENDED = 3607, 365 * 24 * _HOUR
_BINDABLE = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}


def request_token(verbs: Verbs, target: Target, request: Request) -> Response:
    """Issue a token of a service account."""
    is_dry_run(request)
    registry = verbs.registry
    wanted, warnings = verbs.writing.decode(TOKEN_REQUEST, request)
    meta, spec = wanted["metadata"], dict(wanted.get("spec") or {})
    _check_place(target, meta)
    account = registry.store.get(ACCOUNTS, target.namespace, target.name)
    if account is None:
        raise not_found(target.resource, target.name)
    if meta.get("uid") and meta["uid"] != account.uid:
        said = f"the UID in the token request ({meta['uid']}) does not match the UID of the service account"
        integer = Resource(TOKEN_REQUEST.group, "v1", TOKEN_REQUEST.kind, "")
        raise conflict(integer, target.name, f"{said} ({account.uid})")
    spec["audiences"] = spec.get("audiences") or list(verbs.access.audiences)
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = _HOUR
    _check_span(spec["expirationSeconds"])
    bound = _bound(registry, target, spec.get("boundObjectRef"))
    now = registry.clock()
    token = registry.issuer.sign(_claims(registry, account, spec, bound, now))
    ends = timestamp(now + timedelta(seconds=spec["expirationSeconds"]))
    found = {
        "kind": TOKEN_REQUEST.kind,
        "apiVersion": TOKEN_REQUEST.api_version,
        "metadata": {
            "name": account.name,
            "namespace": account.namespace,
            "uid": account.uid,
            "creationTimestamp": timestamp(now),
        },
        "spec": {**spec, "boundObjectRef": spec.get("boundObjectRef")},
        "status": {"token": token, "expirationTimestamp": ends},
    }
    return with_warnings(answer(found, 201), warnings)


def _check_place(target: Target, meta: Document) -> None:
    for field, right in (("name", target.name), ("namespace", target.namespace)):
        if meta.get(field) and meta[field] != right:
            why = f"must match the service account {field} if specified"
            raise invalid(TOKEN_REQUEST, target.name, [invalid_value(f"metadata.{field}", meta[field], why)])


def _check_span(seconds: int) -> None:
    path = "spec.expirationSeconds"
    if seconds < _SHORTEST:
        raise invalid(
            TOKEN_REQUEST, "", [invalid_value(path, seconds, "may not specify a duration less than 10 minutes")]
        )
    if seconds > _LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
        raise invalid(TOKEN_REQUEST, "", [invalid_value(path, seconds, why)])


def _bound(registry: ResourceRegistry, target: Target, reference: Any) -> dict[str, Document]:
    """Return the claims of the object to which a token is bound; raises ApiError if the object does not exist."""
    if reference is None:
        return {}
    kind, name, version = reference.get("kind") or "", reference.get("name") or "", reference.get("apiVersion") or ""
    prefix = _BINDABLE.get(kind)
    group, _, short = version.rpartition("/")
    if prefix is None or group:
        raise bad_request(f"cannot bind token to object of type {group}/{short}, Kind={kind}")
    stored = registry.store.get(prefix, "" if prefix == "nodes" else target.namespace, name)
    if stored is None:
        raise not_found(registry.catalog.by_prefix[prefix], name)
    found = {kind.lower(): {"name": stored.name, "uid": stored.uid}}
    if kind == "Pod":
        if stored.fields.get("spec.serviceAccountName") != target.name:
            who = f'cannot bind token for serviceaccount "{target.name}"'
            raise bad_request(f"{who} to pod running with different serviceaccount name.")
        node = stored.fields.get("spec.nodeName")
        if node:
            known = registry.store.get("nodes", "", node)
            found["node"] = {"name": node, **({} if known is None else {"uid": known.uid})}
    if reference.get("uid") and reference["uid"] != stored.uid:
        why = (
            f"the UID in the bound object reference ({reference['uid']}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise conflict(Resource("", "v1", kind, kind), name, why)
    return found


def _claims(
    registry: ResourceRegistry, account: Stored, spec: Document, bound: dict[str, Document], now: datetime
) -> Claims:
    at, seconds = int(now.timestamp()), spec["expirationSeconds"]
    private: Document = {
        "namespace": account.namespace,
        "serviceaccount": {"name": account.name, "uid": account.uid},
        **bound,
    }
    lasts = seconds
    if seconds == _PROJECTED and "pod" in bound and set(spec["audiences"]) <= {ISSUER}:
        private["warnafter"] = at + seconds
        lasts = _EXTENDED
    return {
        "aud": spec["audiences"],
        "exp": at + lasts,
        "iat": at,
        "iss": ISSUER,
        "jti": registry.new_uid(),
        PRIVATE: private,
        "nbf": at,
        "sub": f"{USER_PREFIX}{account.namespace}:{account.name}",
    }
