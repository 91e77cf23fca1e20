"""The queue of the scheduler in `kubesched up`, at /debug/queue of its API server.

From a server and the queue's reading to a page behind the server's authorization, as /debug/decisions is.
"""

from collections.abc import Callable

from kubesched.serving.queue.records import PATH, QueuePage
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.api.statuses import method_not_allowed
from kubesched_controlplane.server.server import ApiServer


def serve_queue(server: ApiServer, read: Callable[[], QueuePage]) -> None:
    """Serve the queue."""

    def page(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        return Response(200, (read().to_json(),))

    server.pages[PATH] = page
