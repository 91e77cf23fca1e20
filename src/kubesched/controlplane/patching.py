"""Patches: JSON patch, merge patch, strategic merge patch.

From a document and a request's body to the patched document.
"""

# upstream: apiserver/pkg/endpoints/handlers/patch.go; RFC 6902, RFC 7386

from typing import Any

import msgspec

from kubesched.controlplane.requests import Request
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.schema import Schemas
from kubesched.controlplane.statuses import bad_request, unsupported_media_type
from kubesched.controlplane.store import Document

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
OFFERED = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH)


def patched(schemas: Schemas, resource: Resource, document: Document, request: Request) -> Any:
    """Return a document with the patch of a request applied."""
    form = request.headers.get("content-type", "").partition(";")[0].strip()
    if form not in OFFERED:
        raise unsupported_media_type(OFFERED)
    try:
        patch = msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_request(f"error decoding patch: {error}") from None
    if form == JSON_PATCH:
        raise unsupported_media_type(OFFERED)
    if not isinstance(patch, dict):
        raise bad_request("error decoding patch: a JSON object was expected")
    if form == MERGE_PATCH:
        return merged(document, patch)
    return schemas.merge(resource, document, patch)


def merged(document: Any, patch: Any) -> Any:
    """Return a document with a merge patch applied."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for field, change in patch.items():
        if change is None:
            result.pop(field, None)
        else:
            result[field] = merged(result.get(field), change)
    return result
