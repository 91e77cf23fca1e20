"""`namespaces/finalize`: the finalizers in a namespace's spec change; without any left the namespace is removed."""

from kubesched.controlplane.api.requests import Request, Response, Target
from kubesched.controlplane.kinds.namespaces import NamespaceFinalizeStrategy
from kubesched.controlplane.server.verbs.verbs import Verbs

_FINALIZE = NamespaceFinalizeStrategy()


def finalize(verbs: Verbs, target: Target, request: Request) -> Response:
    """Replace the finalizers of a namespace; without any left it is removed."""
    return verbs.writing.update(target, request, _FINALIZE)
