"""Errors with the code, reason, message and details of Kubernetes.

From any step of a request to the client. Every error of a request is an `ApiError`; its body is a Status object.
"""

# upstream: apimachinery/pkg/api/errors/errors.go, apiserver/pkg/endpoints/handlers/negotiation/errors.go (v1.36)

from collections.abc import Sequence
from typing import Any

import msgspec

from kubesched.api.field_errors import WrongType, aggregate
from kubesched.api.go_text import quote
from kubesched.errors import KubeschedError
from kubesched_controlplane.api.resources import Resource

_CAUSES = {
    "Required value": "FieldValueRequired",
    "Invalid value": "FieldValueInvalid",
    "Duplicate value": "FieldValueDuplicate",
    "Forbidden": "FieldValueForbidden",
    "Unsupported value": "FieldValueNotSupported",
    "Not found": "FieldValueNotFound",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Internal error": "InternalError",
}


class ApiError(KubeschedError):
    """An error response of the API: a Status."""

    def __init__(
        self, code: int, reason: str, message: str, details: dict[str, Any] | None = None, retry_after: int = 0
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        # Kubernetes sends empty details with some errors, and none with others
        self.details = details
        self.retry_after = retry_after
        # the continue token with which an expired list can be resumed
        self.token = ""

    def status(self) -> dict[str, Any]:
        """Return the Status object."""
        details = self.details
        if self.retry_after:
            details = {**(details or {}), "retryAfterSeconds": self.retry_after}
        body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        if self.token:
            body["metadata"] = {"continue": self.token}
        body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if details is not None:
            body["details"] = details
        body["code"] = self.code
        return body

    def body(self) -> bytes:
        """Return the Status object as JSON."""
        return msgspec.json.encode(self.status())


def _details(resource: Resource, name: str) -> dict[str, Any]:
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    return {key: value for key, value in details.items() if value}


def bad_request(message: str) -> ApiError:
    """Return the error 400 for a malformed request."""
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    """Return the error 401 for unknown credentials."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: Resource, name: str, why: str) -> ApiError:
    """Return the error 403 for a request on a resource or, with a name, on an object."""
    quoted = f" {quote(name)}" if name else ""
    message = f"{resource.qualified}{quoted} is forbidden: {why}" if resource.plural else f"forbidden: {why}"
    return ApiError(403, "Forbidden", message, _details(resource, name))


def not_found(resource: Resource, name: str) -> ApiError:
    """Return the error 404 for an object that does not exist."""
    return ApiError(404, "NotFound", f"{resource.qualified} {quote(name)} not found", _details(resource, name))


def no_such_path() -> ApiError:
    """Return the error 404 for a path that does not exist."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_allowed() -> ApiError:
    """Return the error 405 for a method that a path does not support."""
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, {})


def not_acceptable(offered: Sequence[str]) -> ApiError:
    """Return the error 406 for a request that accepts none of the offered media types."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(offered)}"
    return ApiError(406, "NotAcceptable", message, {})


def unsupported_media_type(offered: Sequence[str]) -> ApiError:
    """Return the error 415 for a body of an unsupported media type."""
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(offered)}"
    return ApiError(415, "UnsupportedMediaType", message)


def already_exists(resource: Resource, name: str) -> ApiError:
    """Return the error 409 for the creation of an object that exists."""
    return ApiError(
        409, "AlreadyExists", f"{resource.qualified} {quote(name)} already exists", _details(resource, name)
    )


def conflict(resource: Resource, name: str, why: str) -> ApiError:
    """Return the error 409 for a write that conflicts with the state of the object."""
    message = f"Operation cannot be fulfilled on {resource.qualified} {quote(name)}: {why}"
    return ApiError(409, "Conflict", message, _details(resource, name))


def failed_precondition(resource: Resource, key: str, what: str, wanted: str, found: str) -> ApiError:
    """Return the error 409 for a precondition (UID or resourceVersion) that the object does not meet."""
    place = f"/registry/{resource.plural}/{key.lstrip('/')}"
    why = (
        f"StorageError: invalid object, Code: 4, Key: {place}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    )
    return conflict(resource, key.rpartition("/")[2], why)


MODIFIED_MEANWHILE = "the object has been modified; please apply your changes to the latest version and try again"


def expired(message: str, token: str = "") -> ApiError:
    """Return the error 410 for a resource version before the history, with a token to continue an inconsistent list."""
    refusal = ApiError(410, "Expired", message)
    refusal.token = token
    return refusal


def too_old(version: int, oldest: int) -> ApiError:
    """Return the error 410 for a watch from a resource version before the history."""
    return expired(f"too old resource version: {version} ({oldest})")


def too_large_version(version: int, current: int) -> ApiError:
    """Return the error 504 for a resource version that does not exist yet."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {version}, current: {current}"
    return ApiError(504, "Timeout", message, {"causes": [cause]}, retry_after=1)


def too_large(limit: int) -> ApiError:
    """Return the error 413 for a body that is too large."""
    return ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def too_many_requests(message: str, seconds: int = 1) -> ApiError:
    """Return the error 429 for a request that the client shall retry after some seconds."""
    return ApiError(429, "TooManyRequests", message, retry_after=seconds)


def internal_error(message: str) -> ApiError:
    """Return the error 500."""
    causes = [{"message": message}]
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", {"causes": causes})


def invalid(resource: Resource, name: str, problems: Sequence[str]) -> ApiError:
    """Return the error 422 for an object with invalid fields; problems are sentences of `api.field_errors`."""
    # the group in which the kind is stored: events of events.k8s.io are those of the core group
    group = resource.prefix.partition(".")[2]
    qualified = f"{resource.kind}.{group}" if group else resource.kind
    message = f"{qualified} {quote(name)} is invalid: {aggregate(problems)}"
    details = {"name": name, "group": resource.group, "kind": resource.kind}
    details = {key: value for key, value in details.items() if value}
    return ApiError(422, "Invalid", message, {**details, "causes": [_cause(problem) for problem in problems]})


def _cause(problem: str) -> dict[str, str]:
    field, _, message = problem.partition(": ")
    if isinstance(problem, WrongType):
        return {"reason": "FieldValueTypeInvalid", "message": message, "field": field}
    reason = next((reason for start, reason in _CAUSES.items() if message.startswith(start)), "FieldValueInvalid")
    return {"reason": reason, "message": message, "field": field}
