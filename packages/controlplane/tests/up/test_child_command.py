"""A command of `up --`: signals reach it whenever they come."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from kubesched_controlplane.up.child_command import BY_SIGNAL, run_command
from kubesched_controlplane.up.shutdown import Shutdown


def test_a_signal_that_comes_while_the_command_is_started_reaches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutdown, start = Shutdown(), asyncio.create_subprocess_exec

    async def started(*command: Any, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*command, **options)
        shutdown._signalled(signal.SIGTERM, None)
        return process

    async def run() -> int:
        shutdown.in_loop()
        return await run_command(["sleep", "60"], tmp_path / "kubeconfig", shutdown, asyncio.sleep(60))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", started)
    assert asyncio.run(run()) == BY_SIGNAL + signal.SIGTERM
