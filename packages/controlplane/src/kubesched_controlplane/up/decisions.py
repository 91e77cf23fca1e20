"""The last decisions of the scheduler in `kubesched up`, at /debug/decisions of its API server.

From a server to the observer that records, and a page behind the server's authorization. Users who may get this
non-resource URL read it, such as an administrator with `kubectl get --raw /debug/decisions`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from kubesched.serving.decisions.page import PATH, page_body
from kubesched.serving.decisions.recorder import DecisionRecorder
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.api.statuses import bad_request, method_not_allowed
from kubesched_controlplane.server.server import ApiServer


def serve_decisions(
    server: ApiServer, limit_bytes: int, date: Callable[[], datetime], clock: Callable[[], float]
) -> Sequence[DecisionRecorder]:
    """Serve the decisions that an observer records; return the observer, or nothing if its memory is 0."""
    if not limit_bytes:
        return ()
    recorder = DecisionRecorder(limit_bytes, now=lambda: date().timestamp(), clock=clock)

    def page(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        try:
            return Response(200, (page_body(recorder.ring, request.query),))
        except ValueError as problem:
            raise bad_request(str(problem)) from None

    server.pages[PATH] = page
    return (recorder,)
