"""The set-up of `make` reports what it does while packages are installed."""

import io
from pathlib import Path

import pytest

from tools.install import Progress, locked, main, steps

PIP = """Collecting msgspec==0.20.0
  Downloading msgspec-0.20.0-cp311.whl (220 kB)
Collecting numpy==2.4.0
Installing collected packages: numpy, msgspec
Successfully installed msgspec-0.20.0 numpy-2.4.0
""".splitlines(keepends=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def pretended_python(folder: Path, script: str) -> str:
    program = folder / "venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def lock_of(folder: Path) -> str:
    lock = folder / "requirements.lock"
    lock.write_text("numpy==2.4.0 \\\n    --hash=sha256:00\nmsgspec==0.20.0 \\\n    --hash=sha256:11\n# six==1\n")
    return str(lock)


def test_packages_of_a_lock_are_counted(tmp_path: Path) -> None:
    assert locked(Path(lock_of(tmp_path)).read_text()) == 2


def test_each_download_and_the_unpacking_are_reported() -> None:
    assert list(steps(iter(PIP), 2)) == [
        "downloading packages: 1 of at most 2",
        "downloading packages: 2 of at most 2",
        "unpacking 2 packages",
    ]


def test_a_terminal_has_one_line_that_is_rewritten() -> None:
    out = Terminal()
    progress = Progress(out)
    progress.show("downloading packages: 1 of at most 2")
    progress.show("unpacking 2 packages")
    assert out.getvalue() == "\r\x1b[K  downloading packages: 1 of at most 2\r\x1b[K  unpacking 2 packages"


def test_a_file_has_a_line_now_and_then() -> None:
    out = io.StringIO()
    progress = Progress(out)
    for n in range(100):
        progress.show(f"downloading packages: {n} of at most 100")
    progress.show("unpacking 100 packages")
    assert out.getvalue() == "  downloading packages: 0 of at most 100\n  unpacking 100 packages\n"


def test_a_set_up_that_works_ends_with_its_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = pretended_python(tmp_path, "echo Collecting numpy; echo Successfully installed")
    assert main(python, lock_of(tmp_path)) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"Installing the packages of {tmp_path}/requirements.lock into {tmp_path}/venv")
    assert "the packages are installed" in printed
    assert "Successfully" not in printed


def test_a_set_up_that_fails_prints_all_that_pip_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = pretended_python(tmp_path, "echo Collecting numpy; echo ERROR: no such package >&2; exit 1")
    assert main(python, lock_of(tmp_path)) == 1
    assert capsys.readouterr().out.endswith("Collecting numpy\nERROR: no such package\n")
