"""The page's interface to files: save the scenario on display, open a file, export the cluster.

From requests to files, and from files to simulations. The page reads a file to its end before it changes the display.
"""

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Final

from aiohttp import web

from kubesched.common.daemon_thread import on_thread
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_lab.page.configuration.questions import ConfigurationReader
from kubesched_lab.page.files.exports import EXPORTS, ExportedFile, exported
from kubesched_lab.page.files.scenario_lines import read_scenario, scenario_lines
from kubesched_lab.page.files.uploads import LARGEST_FILE, Opening, bounded, prepared
from kubesched_lab.page.page_state import PageState, scenario_of
from kubesched_lab.page.routes.bodies import RefusedRequestError, json_answer
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration
from kubesched_lab.simulate.traces.reading import read_traces

LONGEST_NAME: Final = 100
# how often to check whether the browser is still connected
LOOK_SECONDS: Final = 0.5
# events that are read before a simulation begins
MOST_CHECKED: Final = 2_000_000
_UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]")


class ScenarioFileRoutes:
    """Saves and opens files."""

    def __init__(self, state: PageState) -> None:
        self._state = state
        # the simulated file, which a new run may read again
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        # the file that was opened last, while it is read
        self._opening = Opening()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [
            web.get("/v1/scenario", self._save),
            web.post("/v1/scenario", self._open),
            web.get("/v1/export", self._export),
        ]

    def close(self) -> None:
        """Delete the opened file, and cancel the opening of another one."""
        self._opening.give_up()
        self._delete()

    def _delete(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    async def _save(self, request: web.Request) -> web.StreamResponse:
        simulation = self._state.simulation
        if simulation is not None:
            scenario = await simulation.ask(lambda run: run.scenario, anywhere=True)
        else:
            scenario = scenario_of(self._state.written.model, self._state.configuration)
        content = await asyncio.to_thread(lambda: b"".join(scenario_lines(scenario)))
        return _download(ExportedFile("scenario.jsonl", "application/jsonl", content))

    async def _export(self, request: web.Request) -> web.StreamResponse:
        kind = request.query.get("as", "")
        if kind not in EXPORTS:
            raise RefusedRequestError(400, f"as: {kind[:100]!r} is not known; expected one of {', '.join(EXPORTS)}")
        model = self._state.shown.model
        return _download(await asyncio.to_thread(exported, kind, model.objects_now(), model.loaded))

    async def _open(self, request: web.Request) -> web.StreamResponse:
        """Read a file, and show its content as a simulation."""
        name = _UNFIT.sub("_", Path(request.query.get("name", "")).name)[-LONGEST_NAME:].lstrip(".") or "file"
        folder = tempfile.TemporaryDirectory(prefix="kubesched-page-")
        try:
            path = Path(folder.name) / name
            await _receive(request, path)
            await self._state.simulate(await self._awaited(request, path))
        except KubeschedError as error:
            folder.cleanup()
            sentence = str(error).replace(f"{folder.name}/", "")
            raise RefusedRequestError(getattr(error, "status", 422), sentence) from None
        except OSError as error:
            folder.cleanup()
            raise RefusedRequestError(507, f"{name} cannot be kept here: {error.strerror or error}") from None
        except BaseException:
            folder.cleanup()
            raise
        self._delete()
        self._folder = folder
        return json_answer({"done": f"Simulating {name}."})

    async def _awaited(self, request: web.Request, path: Path) -> PageScenario:
        """Return the scenario in a file, unless its browser leaves or opens another one; raises KubeschedErrors."""
        self._opening.give_up()
        opening = self._opening = Opening()
        reading = on_thread(lambda: self._read(path, opening))
        while not reading.done():
            await asyncio.wait((reading,), timeout=LOOK_SECONDS)
            if request.transport is None:
                opening.give_up()
        return reading.result()

    def _read(self, received: Path, opening: Opening) -> PageScenario:
        """Return the scenario in a file; raises KubeschedErrors with line and field."""
        model = self._state.shown.model
        path = prepared(received, opening)
        reader = ConfigurationReader(model.loaded.gates, model.registry)
        if path.suffix == ".jsonl":
            saved = read_scenario(path, lambda text: reader.load(text or None), model.registry, opening.go_on)
            if saved is not None:
                return saved
        kinds = custom_kinds_of(model.loaded, model.registry or Registry())
        trace = bounded(read_traces([str(path)], kinds, alone=True))
        for number, _ in enumerate(trace.events(0)):
            opening.go_on()
            if number > MOST_CHECKED:
                break
        configuration = SimulatedConfiguration(self._state.configuration, model.loaded)
        return PageScenario(trace, configuration, model.registry)


async def _receive(request: web.Request, path: Path) -> None:
    """Write the body of a request to a file."""
    size = 0
    with path.open("wb") as file:
        async for part in request.content.iter_any():
            size += len(part)
            if size > LARGEST_FILE:
                raise RefusedRequestError(413, f"the file has more than {LARGEST_FILE} bytes")
            file.write(part)
    if not size:
        raise RefusedRequestError(400, "the file is empty")


def _download(file: ExportedFile) -> web.Response:
    disposition = f'attachment; filename="{file.name}"'
    return web.Response(body=file.content, content_type=file.media_type, headers={"Content-Disposition": disposition})
