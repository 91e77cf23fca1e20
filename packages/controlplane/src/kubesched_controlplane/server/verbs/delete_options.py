"""DeleteOptions in the body or the query of a request.

From requests to values. Options that cannot be parsed are a 400 with Go's message; invalid options are a 422.
"""

# upstream: apiserver/pkg/endpoints/handlers/delete.go, apimachinery/pkg/apis/meta/v1/validation/validation.go (v1.36)

import msgspec

from kubesched.api.field_errors import invalid, not_supported
from kubesched_controlplane.api.query_options import dry_run_problems, invalid_options
from kubesched_controlplane.api.requests import Request
from kubesched_controlplane.api.statuses import bad_request
from kubesched_controlplane.schema import Schemas, decoder_of
from kubesched_controlplane.schema.decoder import UnrecognizedError
from kubesched_controlplane.schema.notation import META
from kubesched_controlplane.schema.strict_decoder import ShapeError

# the propagation policies for an object's dependents
ORPHAN, BACKGROUND, FOREGROUND = "Orphan", "Background", "Foreground"
_POLICIES = (FOREGROUND, BACKGROUND, ORPHAN)
_KIND = "DeleteOptions"


class Preconditions(msgspec.Struct, rename="camel"):
    """The UID and resource version that the object must have."""

    uid: str | None = None
    resource_version: str | None = None


class DeleteOptions(msgspec.Struct, rename="camel"):
    """The options of a deletion."""

    grace_period_seconds: int | None = None
    preconditions: Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    dry_run: list[str] | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None


def read_options(schemas: Schemas, request: Request) -> DeleteOptions:
    """Return the delete options in the body of a request or, if it has no body, in its query; raises ApiError."""
    options = _in_body(schemas, request.body) if request.body else _in_query(request)
    policy = options.propagation_policy
    problems = []
    if policy is not None and options.orphan_dependents is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        problems.append(invalid("propagationPolicy", policy, why))
    if policy is not None and policy not in _POLICIES:
        problems.append(not_supported("propagationPolicy", policy, (*_POLICIES, "nil")))
    problems += dry_run_problems(options.dry_run)
    if problems:
        raise invalid_options(_KIND, problems)
    if options.grace_period_seconds is not None and options.grace_period_seconds < 0:
        options.grace_period_seconds = 1
    return options


def _in_query(request: Request) -> DeleteOptions:
    orphans = request.flag("orphanDependents") if request.query.get("orphanDependents") else None
    return DeleteOptions(
        grace_period_seconds=request.integer("gracePeriodSeconds"),
        orphan_dependents=orphans,
        propagation_policy=request.option("propagationPolicy") or None,
        dry_run=list(request.query.get("dryRun") or ()),
    )


def _in_body(schemas: Schemas, body: bytes) -> DeleteOptions:
    shape = schemas.for_kind(META, _KIND)
    assert shape is not None, "the shape of DeleteOptions is not written down"
    try:
        document, _ = decoder_of(shape).decode(body, strict=False)
    except (UnrecognizedError, ShapeError) as error:
        raise bad_request(str(error)) from None
    return msgspec.convert(document, DeleteOptions)
