"""Ctrl-C while an API server takes a request and says nothing: commands that follow a cluster end at once."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.processes import SECONDS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("command", ["shadow", "record", "page"])
def test_a_command_ends_though_the_api_server_is_silent(tmp_path: Path, command: str, number: signal.Signals) -> None:
    words = {"record": ["record", str(tmp_path / "r.jsonl")]}.get(command, [command])
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(SECONDS)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-m", "kubesched", *words, "--server", address], stderr=subprocess.PIPE, text=True
        )
        try:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(SECONDS)
                assert connection.recv(1)
                process.send_signal(number)
                _, said = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert "Traceback" not in said
