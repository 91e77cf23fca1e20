"""Patches of objects, built-in or custom.

From an object and a patch of the scheduler to the patched object; `merging` has the rules for single fields.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from kubesched.api.codec import decode, to_builtins
from kubesched.api.custom import CustomObject, custom_document, custom_object
from kubesched.api.merging import strategic_merge
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod, PodStatus


def patched(obj: ApiObject, patch: Mapping[str, Any]) -> ApiObject:
    """Return an object with a patch applied."""
    if isinstance(obj, CustomObject):
        return custom_object(type(obj), strategic_merge(custom_document(obj), patch))
    if isinstance(obj, Pod) and patch.keys() == {"status"}:
        # pods are patched often, and their status is a small part of them
        status = strategic_merge(msgspec.json.decode(msgspec.json.encode(obj.status)), patch["status"])
        with suppress(msgspec.ValidationError):
            return msgspec.structs.replace(obj, status=msgspec.convert(status, PodStatus))
    return decode(strategic_merge(to_builtins(obj), patch))
