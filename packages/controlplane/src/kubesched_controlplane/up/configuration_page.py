"""The configuration of the scheduler in `kubesched up`, at /configz of its API server, as a scheduler serves it.

From a server and the configuration in force to a page behind the server's authorization, as /debug/queue is.
Questions with --cluster use it.
"""

from collections.abc import Callable

import msgspec

from kubesched.config.encoding import to_wire
from kubesched.config.load import Loaded
from kubesched.config.redacting import without_secrets
from kubesched.sources.scheduler_configuration import FIELD, PATH
from kubesched_controlplane.api.requests import Request, Response
from kubesched_controlplane.api.statuses import method_not_allowed
from kubesched_controlplane.server.server import ApiServer


def serve_configuration(server: ApiServer, in_force: Callable[[], Loaded]) -> None:
    """Serve the configuration in force, without secrets."""

    def page(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        document = {FIELD: without_secrets(to_wire(in_force().config))}
        return Response(200, (msgspec.json.encode(document),))

    server.pages[PATH] = page
