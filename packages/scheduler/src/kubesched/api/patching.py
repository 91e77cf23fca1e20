"""Patches of objects, built-in or custom.

From an object and a patch of the scheduler to the patched object; `merging` has the rules for single fields.
"""

from collections.abc import Mapping
from typing import Any

from kubesched.api.codec import decode, to_builtins
from kubesched.api.custom import CustomObject, custom_document, custom_object
from kubesched.api.merging import strategic_merge
from kubesched.api.meta import ApiObject


def patched(obj: ApiObject, patch: Mapping[str, Any]) -> ApiObject:
    """Return an object with a patch applied."""
    if isinstance(obj, CustomObject):
        return custom_object(type(obj), strategic_merge(custom_document(obj), patch))
    return decode(strategic_merge(to_builtins(obj), patch))
