"""Paths with a meaning of their own: bindings, evictions, reviews.

From a target to the function that answers it; `handlers` knows which.
"""

from collections.abc import Callable

import msgspec

from kubesched.controlplane.access import Access
from kubesched.controlplane.api.requests import Request, Response, Target
from kubesched.controlplane.registry.registry import Services
from kubesched.controlplane.server.verbs.deleting import Deleting
from kubesched.controlplane.server.verbs.reading import Reading
from kubesched.controlplane.server.verbs.writing import Writing


class Verbs(msgspec.Struct):
    """What handlers are made of."""

    services: Services
    reading: Reading
    writing: Writing
    deleting: Deleting
    access: Access


Handler = Callable[[Verbs, Target, Request], Response]
