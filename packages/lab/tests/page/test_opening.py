"""`kubesched page --open`: the browser gets a file that leads to the page; no process has the token as an argument."""

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.processes import SECONDS, eventually

ROOT = Path(__file__).parents[4]
# a browser that notes what it is called with
BROWSER = "#!/bin/sh\nprintf '%s' \"$*\" > '{noted}.part' && mv '{noted}.part' '{noted}'\n"


def test_the_token_is_in_a_file_of_this_user_and_not_in_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, noted = tmp_path / "browser", tmp_path / "noted"
    program.write_text(BROWSER.format(noted=noted))
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    words = ["page", "--from", str(ROOT / "examples/quickstart"), "--open"]
    process = subprocess.Popen([sys.executable, "-m", "kubesched", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        token = address.partition("#token=")[2]
        argument = eventually(lambda: noted.read_text() if noted.exists() else None, "the browser is called")
        assert token
        assert token not in argument
        file = Path(argument.removeprefix("file://"))
        assert f'url={address}"' in file.read_text()
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        process.send_signal(signal.SIGINT)
        process.wait(SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert not file.exists()
