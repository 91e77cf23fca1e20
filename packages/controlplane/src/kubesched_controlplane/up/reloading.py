"""`kubesched up --reload`: the scheduler applies a changed configuration file while the cluster runs.

From a file to a line on standard error for the outcome of each change.
"""

from collections.abc import Callable

import msgspec

from kubesched.common.files import FileStamp
from kubesched.common.notes import Note
from kubesched.config.load import Loaded
from kubesched.core.loop.scheduler import Scheduler
from kubesched.run.changed_file import ChangedFile
from kubesched.run.configuration_swap import ConfigurationSwap
from kubesched.run.reload_reports import APPLIED, REFUSED, ReloadOutcome
from kubesched.run.reloader import outcomes, reloaded


class ConfigFile(msgspec.Struct, frozen=True):
    """A configuration file that is watched, its reader and validator, and its stamp before the first read."""

    path: str
    read: Callable[[], Loaded]
    stamp: FileStamp | None


async def follow_config(file: ConfigFile, scheduler: Scheduler, swap: ConfigurationSwap, note: Note) -> None:
    """Reload whenever the file has changed, until cancelled."""

    async def reload() -> ReloadOutcome:
        return await reloaded(file.path, file.read, scheduler.engine.loaded, swap)

    async for outcome in outcomes(ChangedFile(file.path, file.stamp), reload):
        if outcome.result == REFUSED:
            note(f"configuration rejected, the last valid one stays in force: {outcome.reason}")
        elif outcome.result == APPLIED:
            note(f"configuration reloaded: {file.path} is in force as generation {scheduler.engine.generation}")
