"""Tables of admission policies, their bindings, flow schemas, APIServices and CertificateSigningRequests."""

# upstream: pkg/printers/internalversion/printers.go, kube-aggregator/pkg/registry/apiservice/etcd/etcd.go (v1.36)

from datetime import datetime

from kubesched_controlplane.representation.tables.printing import (
    NONE,
    UNSET,
    Cells,
    Document,
    Printer,
    age,
    columns,
    condition,
    human_duration,
    name,
    selector_text,
    spec,
    status,
)


def _policy(policy: Document, now: datetime) -> Cells:
    wanted = spec(policy)
    kind = wanted.get("paramKind")
    params = UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"
    count = len(wanted.get("validations") or wanted.get("mutations") or ())
    return [name(policy), count, params, age(policy, now)]


def _binding(binding: Document, now: datetime) -> Cells:
    wanted = spec(binding)
    reference = wanted.get("paramRef")
    params = UNSET
    if reference is not None and reference.get("name"):
        params = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference is not None and reference.get("selector") is not None:
        params = selector_text(reference["selector"])
    return [name(binding), wanted.get("policyName", ""), params, age(binding, now)]


def _flow_schema(schema: Document, now: datetime) -> Cells:
    wanted, missing = spec(schema), condition(schema, "Dangling")
    method = wanted.get("distinguisherMethod")
    return [
        name(schema),
        (wanted.get("priorityLevelConfiguration") or {}).get("name", ""),
        wanted.get("matchingPrecedence", 0),
        NONE if method is None else method.get("type", ""),
        age(schema, now),
        "?" if missing is None else missing.get("status", ""),
    ]


def _priority_level(level: Document, now: datetime) -> Cells:
    limited = spec(level).get("limited")
    shares = NONE if limited is None else limited.get("nominalConcurrencyShares", 0)
    queuing = ((limited or {}).get("limitResponse") or {}).get("queuing")
    queues = [
        NONE if queuing is None else queuing.get(field, 0) for field in ("queues", "handSize", "queueLengthLimit")
    ]
    return [name(level), spec(level).get("type", ""), shares, *queues, age(level, now)]


def _api_service(service: Document, now: datetime) -> Cells:
    reference, found = spec(service).get("service"), condition(service, "Available")
    where = "Local" if reference is None else f"{reference.get('namespace', '')}/{reference.get('name', '')}"
    available = "Unknown" if found is None else found.get("status", "")
    if found is not None and available != "True" and found.get("reason"):
        available = f"{available} ({found['reason']})"
    return [name(service), where, available, age(service, now)]


def _signing_request(request: Document, now: datetime) -> Cells:
    wanted = spec(request)
    seconds = wanted.get("expirationSeconds")
    lasts = NONE if seconds is None else human_duration(seconds)
    signer, who = wanted.get("signerName") or NONE, wanted.get("username", "")
    return [name(request), age(request, now), signer, who, lasts, _progress(request)]


def _progress(request: Document) -> str:
    kinds = {each.get("type") for each in status(request).get("conditions") or ()}
    words = ["Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"]
    words += ["Failed"] if "Failed" in kinds else []
    return ",".join([*words, "Issued"] if status(request).get("certificate") else words)


POLICY_BINDING_PRINTER = Printer(columns("Name, PolicyName, ParamRef, Age"), _binding)
VALIDATING_ADMISSION_POLICY_PRINTER = Printer(columns("Name, Validations:integer, ParamKind, Age"), _policy)
MUTATING_ADMISSION_POLICY_PRINTER = Printer(columns("Name, Mutations:integer, ParamKind, Age"), _policy)
FLOW_SCHEMA_PRINTER = Printer(
    columns("Name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL"), _flow_schema
)
PRIORITY_LEVEL_CONFIGURATION_PRINTER = Printer(
    columns("Name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age"), _priority_level
)
API_SERVICE_PRINTER = Printer(columns("Name, Service, Available, Age"), _api_service)
CERTIFICATE_SIGNING_REQUEST_PRINTER = Printer(
    columns("Name, Age, SignerName, Requestor, RequestedDuration, Condition"), _signing_request
)
