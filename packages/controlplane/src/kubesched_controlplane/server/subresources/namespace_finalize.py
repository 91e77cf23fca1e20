"""`namespaces/finalize`: replaces spec.finalizers; a terminating namespace without finalizers is deleted."""

from kubesched_controlplane.api.requests import Request, Response, Target
from kubesched_controlplane.kinds.namespaces import NamespaceFinalizeStrategy
from kubesched_controlplane.server.verbs.verbs import Verbs

_FINALIZE = NamespaceFinalizeStrategy()


def finalize(verbs: Verbs, target: Target, request: Request) -> Response:
    """Replace spec.finalizers of a namespace; delete a terminating namespace that has none left."""
    return verbs.writing.update(target, request, _FINALIZE)
