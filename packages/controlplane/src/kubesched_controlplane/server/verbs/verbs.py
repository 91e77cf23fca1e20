"""The verbs in one struct, which handlers of subresources get as an argument."""

from collections.abc import Callable

import msgspec

from kubesched_controlplane.access import Access
from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.server.verbs.deleting import DeleteVerbs
from kubesched_controlplane.server.verbs.reading import ReadVerbs
from kubesched_controlplane.server.verbs.writing import WriteVerbs


class Verbs(msgspec.Struct):
    """The arguments of handlers: the registry, the verbs, and access decisions."""

    registry: ResourceRegistry
    reading: ReadVerbs
    writing: WriteVerbs
    deleting: DeleteVerbs
    access: Access


Handler = Callable[[Verbs, Target, Request], Response]
