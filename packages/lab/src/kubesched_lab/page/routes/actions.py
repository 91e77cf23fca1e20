"""The page's interface to actions: do, undo, redo, and list.

From requests to changes of the cluster on display: of a simulation, or of a live cluster where that is allowed.
"""

from typing import Final

import msgspec
from aiohttp import web

from kubesched import __version__
from kubesched.client.rest import RestClient, RestConfig
from kubesched_lab.page.actions.live_changes import LiveChanges
from kubesched_lab.page.actions.requests import ActionRequest
from kubesched_lab.page.actions.simulated_changes import SimulatedChanges
from kubesched_lab.page.actions.templates import TEMPLATES
from kubesched_lab.page.page_state import LIVE, PageState
from kubesched_lab.page.routes.bodies import RefusedRequestError, json_answer, read_body
from kubesched_lab.page.simulation.scenario import SimulatedConfiguration

READ_ONLY: Final = (
    "this page may not change the cluster: start it with kubesched page --allow-changes, or try it in a simulation"
)
FILES_DO_NOT_CHANGE: Final = "the cluster comes from files, which the page does not change: try it in a simulation"
TIMEOUT_SECONDS: Final = 30.0


class NoBody(msgspec.Struct, forbid_unknown_fields=True):
    """An empty body, or an empty object."""


class ActionRoutes:
    """Carries out actions of users on the cluster on display."""

    def __init__(self, state: PageState) -> None:
        self._state = state
        self._simulated: SimulatedChanges | None = None
        self._live: LiveChanges | None = None
        # the server of live changes, and clients to be closed
        self._server: RestConfig | None = None
        self._clients: list[RestClient] = []

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [
            web.get("/v1/actions", self._list),
            web.post("/v1/actions", self._do),
            web.post("/v1/undo", self._undo),
            web.post("/v1/redo", self._redo),
        ]

    async def close(self) -> None:
        """End background work."""
        if self._live is not None:
            self._live.close()
        for client in self._clients:
            await client.close()

    def changes(self) -> SimulatedChanges | LiveChanges:
        """Return the object that carries out actions now; raises RefusedRequestError if actions are not possible."""
        simulation, source = self._state.simulation, self._state.source
        if simulation is not None:
            if self._simulated is None or self._simulated.simulation is not simulation:
                self._simulated = SimulatedChanges(simulation)
            return self._simulated
        self._simulated = None
        server = source.model.source.server if source is not None else None
        if self._state.mode != LIVE or source is None or server is None:
            raise RefusedRequestError(409, FILES_DO_NOT_CHANGE)
        if not self._state.writable:
            raise RefusedRequestError(403, READ_ONLY)
        if self._live is None or server is not self._server:
            if self._live is not None:
                # of a cluster that was restarted at another address
                self._live.close()
            self._server = server
            self._clients.append(RestClient(server, f"kubesched/{__version__}", timeout_seconds=TIMEOUT_SECONDS))
            self._live = LiveChanges(source, self._clients[-1])
        return self._live

    async def configure(self, configuration: SimulatedConfiguration) -> str:
        """Put another configuration in force; raises KubeschedErrors."""
        return await self.changes().configure(configuration)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        try:
            changes, why = self.changes(), ""
        except RefusedRequestError as refused:
            changes, why = None, str(refused)
        return json_answer(
            {
                "writable": changes is not None,
                "why": why,
                "done": changes.done() if changes is not None else [],
                "undone": changes.undone() if changes is not None else [],
                "running": changes.running() if changes is not None else None,
                "templates": [{"name": name, "yaml": text} for name, text in TEMPLATES.items()],
            }
        )

    async def _do(self, request: web.Request) -> web.StreamResponse:
        asked = await read_body(request, ActionRequest)
        return json_answer({"done": await self.changes().do(asked)})

    async def _undo(self, request: web.Request) -> web.StreamResponse:
        await read_body(request, NoBody)
        return json_answer({"done": await self.changes().undo()})

    async def _redo(self, request: web.Request) -> web.StreamResponse:
        await read_body(request, NoBody)
        return json_answer({"done": await self.changes().redo()})
