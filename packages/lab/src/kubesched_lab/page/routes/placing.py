"""/v1/placed: whether pods of manifests are shown on the nodes where the scheduler would place them.

From requests to the cluster on display; browsers then read it again.
"""

import msgspec
from aiohttp import web

from kubesched.errors import KubeschedError
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.routes.bodies import RefusedRequestError, json_answer, read_body


class PlacedRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /v1/placed."""

    placed: bool


def placing_routes(state: PageState) -> list[web.RouteDef]:
    """Return the route."""

    async def place(request: web.Request) -> web.StreamResponse:
        asked = await read_body(request, PlacedRequest)
        try:
            await state.place(asked.placed)
        except KubeschedError as error:
            raise RefusedRequestError(409, str(error)) from None
        return json_answer({"placed": state.places})

    return [web.post("/v1/placed", place)]
