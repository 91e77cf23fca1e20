"""Query parameters: the options of list, watch, create, update and patch, and their validation.

From a request's query to values. A parameter that cannot be parsed is a 400; invalid options are a 422 that lists all
of them.
"""

# upstream: apimachinery/pkg/apis/meta/{internalversion,v1}/validation/validation.go, pkg/conversion/queryparams (v1.36)

import msgspec

from kubesched.api.field_errors import as_json, forbidden, not_supported, required
from kubesched.api.field_errors import invalid as invalid_value
from kubesched.config.golang import parse_duration
from kubesched_controlplane.api.requests import Request, Target, parse_whole
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, bad_request, invalid

LONGEST_FIELD_MANAGER = 128
LARGEST_VERSION = 2**64 - 1
_EXACT, _NOT_OLDER = "Exact", "NotOlderThan"
_MATCH, _INITIAL = "resourceVersionMatch", "sendInitialEvents"
# in the order of the message
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_LASTING = ("attach", "exec", "log", "portforward", "proxy")
_WRITES = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}


class ListOptions(msgspec.Struct, frozen=True):
    """The options of a list or a watch."""

    limit: int = 0
    token: str = ""
    version: int = 0
    exact: bool = False
    # whether a watch begins with the existing objects; None: only if there is no resource version
    initial_events: bool | None = None
    bookmarks: bool = False
    # seconds until a watch ends; 0 for the default of the server
    seconds: int = 0


def list_options(request: Request, *, watching: bool = False) -> ListOptions:
    """Return the options of a list or a watch."""
    limit, seconds = request.integer("limit") or 0, request.integer("timeoutSeconds") or 0
    initial = request.flag(_INITIAL) if request.query.get(_INITIAL) else None
    problems = _watch_problems(request, initial) if watching else _list_problems(request, initial)
    if problems:
        raise invalid_options("ListOptions", problems)
    return ListOptions(
        max(limit, 0),
        request.option("continue"),
        _version(request, watching),
        request.option(_MATCH) == _EXACT,
        initial,
        request.flag("allowWatchBookmarks"),
        max(seconds, 0),
    )


def check_timeout(request: Request, target: Target | None) -> None:
    """Raise ApiError if the `timeout` parameter is not a duration; long-running requests ignore it."""
    text = request.option("timeout")
    if not text or (target is not None and (target.verb == "watch" or target.subresource in _LASTING)):
        return
    try:
        parse_duration(text)
    except ValueError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from None


def apply_options(request: Request) -> tuple[bool, bool]:
    """Return `dryRun` and `force` of a server-side apply; raises ApiError for invalid options."""
    return is_dry_run(request, applying=True), request.flag("force")


def is_dry_run(request: Request, *, applying: bool = False) -> bool:
    """Validate the options of a write; return whether it is a dry run."""
    dry_runs = request.query.get("dryRun") or ()
    manager, validation = request.option("fieldManager"), request.option("fieldValidation")
    problems = []
    if applying and not manager:
        problems.append(required("fieldManager", "is required for apply patch"))
    elif request.method == "PATCH" and request.query.get("force") and not applying:
        problems.append(forbidden("force", "may not be specified for non-apply patch"))
    if manager:
        problems += _manager_problems(manager)
    problems += dry_run_problems(dry_runs)
    if validation not in _VALIDATIONS:
        problems.append(not_supported("fieldValidation", validation, _VALIDATIONS))
    if problems:
        raise invalid_options(_WRITES.get(request.method, "CreateOptions"), problems)
    return bool(dry_runs)


def dry_run_problems(values: object) -> list[str]:
    """Return the problems of the `dryRun` parameter."""
    texts = list(values) if isinstance(values, list | tuple) else []
    return [] if all(text == "All" for text in texts) else [not_supported("dryRun", as_json(texts), ["All"])]


def field_validation(request: Request) -> str:
    """Return the handling of unknown fields: Ignore, Warn or Strict."""
    return request.option("fieldValidation") or "Warn"


def invalid_options(kind: str, problems: list[str]) -> ApiError:
    """Return the error 422 for invalid options."""
    return invalid(Resource("meta.k8s.io", "v1", "", kind), "", problems)


def _list_problems(request: Request, initial: bool | None) -> list[str]:
    match, version = request.option(_MATCH), request.option("resourceVersion")
    problems = []
    if match:
        if not version:
            problems.append(forbidden(_MATCH, f"{_MATCH} is forbidden unless resourceVersion is provided"))
        if request.option("continue"):
            problems.append(forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
        if match not in (_EXACT, _NOT_OLDER):
            problems.append(not_supported(_MATCH, match, (_EXACT, _NOT_OLDER, "")))
        if match == _EXACT and version == "0":
            problems.append(forbidden(_MATCH, f'{_MATCH} "exact" is forbidden for resourceVersion "0"'))
    if initial is not None:
        problems.append(forbidden(_INITIAL, f"{_INITIAL} is forbidden for list"))
    return problems


def _watch_problems(request: Request, initial: bool | None) -> list[str]:
    match = request.option(_MATCH)
    problems = []
    if initial is not None and match != _NOT_OLDER:
        problems.append(forbidden(_MATCH, f"{_INITIAL} requires setting {_MATCH} to {_NOT_OLDER}"))
    if match:
        if initial is None:
            problems.append(forbidden(_MATCH, f"{_MATCH} is forbidden for watch unless {_INITIAL} is provided"))
        if match != _NOT_OLDER:
            problems.append(not_supported(_MATCH, match, (_NOT_OLDER,)))
        if request.option("continue"):
            problems.append(forbidden(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
    return problems


def _version(request: Request, watching: bool) -> int:
    text = request.option("resourceVersion")
    if not text:
        return 0
    try:
        return parse_whole(text, LARGEST_VERSION)
    except ValueError as error:
        # differs (D-141): the reference answers 500 to a watch, although it is a client error
        problem = invalid_value("resourceVersion", text, str(error))
        raise bad_request(problem if watching else f"invalid resource version: {problem}") from None


def _manager_problems(manager: str) -> list[str]:
    problems = []
    if len(manager.encode(errors="replace")) > LONGEST_FIELD_MANAGER:
        problems.append(f"fieldManager: Too long: may not be more than {LONGEST_FIELD_MANAGER} bytes")
    at = 0
    for character in manager:
        if not character.isprintable():
            why = f"invalid character U+{ord(character):04X} (at position {at})"
            problems.append(invalid_value("fieldManager", manager, why))
        at += len(character.encode(errors="replace"))
    return problems
