"""A terminal in which the commands of a document are run as they are written, one after the other.

From a section of a document to files in a folder and commands that worked. A command that stays goes on beside the next
ones until the block is left; after a `kubesched up` that stays, KUBECONFIG leads to its cluster.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Container, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from click.testing import CliRunner
from tests.support.processes import eventually

from kubesched.cli import main
from tools.examples import DocumentSection, file_name

SECONDS = 180.0
# PATH with the programs of this environment
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# 3: something is left that fits nowhere, or nothing could be judged, which is an answer
_CODES = (0, 3)
_EXPORT = "export KUBECONFIG="


def stays(line: str) -> bool:
    """Return whether a command goes on until it is ended."""
    words = line.split()
    if words[:2] == ["kubesched", "up"]:
        return not {"--detach", "status", "down"} & set(words)
    return words[0] == "kubesched" and words[1] in ("page", "run", "shadow", "record")


class Terminal:
    """A terminal in a folder; what it is told `instead` takes the place of words in commands and files."""

    def __init__(self, folder: Path, environment: Mapping[str, str], instead: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._instead = instead or {}
        self._stack = ExitStack()
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def follow(self, section: DocumentSection, leave_out: Container[str] = ()) -> str:
        """Write the files of a section and run its commands; return what they printed."""
        self.write_files(section)
        return "".join(self.run(command.line) for command in section.commands if command.line not in leave_out)

    def write_files(self, section: DocumentSection) -> None:
        """Write the blocks of a section that begin with the name of a file."""
        for _, text in section.blocks:
            if name := file_name(text):
                (self._folder / name).write_text(self._replaced(text))

    def run(self, line: str) -> str:
        """Run a command, which has to work; return what it printed so far."""
        line = self._replaced(line)
        if line.startswith("export "):
            self._export(line)
            return ""
        if stays(line) and "--duration" not in line:
            return self._start(line)
        code, output = self._ours(line) if _is_simple(line) else self._others(line)
        assert code in (_CODES if line.startswith("kubesched ") else (0,)), f"$ {line}\n{output}"
        assert "Traceback" not in output, f"$ {line}\n{output}"
        return output

    def _replaced(self, text: str) -> str:
        for words, others in self._instead.items():
            text = text.replace(words, others)
        return text

    def _export(self, line: str) -> None:
        name, _, value = line.removeprefix("export ").partition("=")
        # `...` stands for what a command has printed, which counts already
        if value != "...":
            self._environment[name] = value
        assert self._environment.get(name), line

    def _start(self, line: str) -> str:
        """Start a command that stays, and wait until it says something, or a cluster where it is."""
        output = self._folder / f"terminal-{self._started}.log"
        self._started += 1
        with output.open("w") as file:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {line}"], cwd=self._folder, env=self._environment, stdout=file, stderr=file
            )
        self._stack.callback(_end, process, line, output)
        awaited = _EXPORT if line.startswith("kubesched up ") else "\n"

        def said() -> str | None:
            text = output.read_text()
            assert awaited in text or process.poll() is None, f"$ {line}\n{text}"
            return text if awaited in text else None

        text = eventually(said, f"$ {line}\nsays something")
        if awaited == _EXPORT:
            self._environment["KUBECONFIG"] = text.partition(_EXPORT)[2].partition("\n")[0]
        return text

    def _ours(self, line: str) -> tuple[int, str]:
        """Run a command of ours in this process: a start takes longer than most of them."""
        line, _, file = line.partition(" > ")
        with contextlib.chdir(self._folder):
            result = CliRunner(env=self._environment).invoke(main, shlex.split(line)[1:])
        if file:
            (self._folder / file).write_text(result.stdout)
        return result.exit_code, result.output

    def _others(self, line: str) -> tuple[int, str]:
        if "--detach" in line:
            self._stack.callback(self._others, f"kubesched up down {_name_of_cluster(line)}")
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self._folder,
            env=self._environment,
            text=True,
            capture_output=True,
            timeout=SECONDS,
        )
        return done.returncode, done.stdout + done.stderr


def _is_simple(line: str) -> bool:
    """Return whether a command of ours can be run in this process: a shell has nothing to do but to write a file."""
    words = line.partition(" > ")[0]
    return words.startswith(("kubesched doctor", "kubesched explain", "kubesched shadow")) and not set(words) & set(
        "|<>;&$*~`\\"
    )


def _name_of_cluster(line: str) -> str:
    words = shlex.split(line)
    return words[words.index("--name") + 1] if "--name" in words else "default"


def _end(process: "subprocess.Popen[bytes]", line: str, output: Path) -> None:
    """End a command with Ctrl-C; it has to be there until then, unless `kubesched up down` ended it."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        # 1: without an election, as in kube-scheduler
        expected: tuple[int, ...] = (0, 1)
    else:
        expected = (0,)
    try:
        code = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    said = f"$ {line}\n{output.read_text()}"
    assert code in expected, said
    assert "Traceback" not in said
