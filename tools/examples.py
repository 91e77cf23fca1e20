"""Documents with tested examples: `python -m tools.examples docs/guides/questions/cookbook.md` writes their output.

From a Markdown file to its sections, and from a section to what its examples print. In a console block, lines after
`$ ` are commands and the lines below one are its output; a line `...` stands for any lines. `$ echo $?` prints the last
exit code. The output of a Python block is the block `text` after it; a block that begins with a comment `# name.py` or
`# name.yaml` is written to that file. A section that says `<!-- not run: why -->` is not run here, and a command
without an output is run for what it does. Each section has a folder of its own, unless the document says
`<!-- sections follow on each other -->`. What comes before the first heading `##` is a section, too.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from kubesched.cli import main as kubesched

ROOT = Path(__file__).parents[1]
COLUMNS = "100"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"^# ([\w-]+\.(?:py|yaml))\n")
_IN_ONE_FOLDER = "<!-- sections follow on each other -->"
# what a shell has to look at
_FOR_A_SHELL = re.compile(r"[|<>;&$*`\\]")
# a command goes on until this line
_HERE_DOCUMENT = re.compile(r"<<(\w+)")
_NOT_RUN = re.compile(r"<!-- not run: (.*?) -->")


class DocumentSection(NamedTuple):
    """A section of a document: its heading, its blocks of code, each a language and a text, and why it is not run."""

    heading: str
    blocks: tuple[tuple[str, str], ...]
    why_not: str = ""

    @property
    def is_run(self) -> bool:
        """Return whether what it shows is compared with what is printed."""
        return not self.why_not

    @property
    def commands(self) -> "list[ShownCommand]":
        """Return the commands of its console blocks."""
        return [command for language, text in self.blocks if language == "console" for command in commands_in(text)]


class ShownCommand(NamedTuple):
    """A command of a console block as it is written there, and the output that is shown."""

    written: str
    output: str

    @property
    def line(self) -> str:
        """Return the command without its comment, in one line; a here-document follows in lines of its own."""
        first, end, rest = re.sub(r"\\\n\s*", "", self.written).partition("\n")
        return re.sub(r"\s+#\s.*$", "", first).strip() + end + rest


class ShownOutput(NamedTuple):
    """An example that prints something else than what is shown."""

    example: str
    shown: str
    printed: str

    def __str__(self) -> str:
        return f"{self.example}\n-- shown:\n{self.shown}-- printed:\n{self.printed}"


def sections(text: str) -> list[DocumentSection]:
    """Return the sections of a document that have code."""
    found = []
    for part in _parts(text):
        blocks = tuple((match[1], match[2]) for match in _BLOCK.finditer(part))
        if blocks:
            why_not = _NOT_RUN.search(part)
            found.append(DocumentSection(part.partition("\n")[0], blocks, why_not[1] if why_not else ""))
    return found


def _parts(text: str) -> list[str]:
    """Return the text before the first heading, and below each one, from the heading on; in code there are none."""
    in_code = [match.span() for match in _BLOCK.finditer(text)]
    begins = [
        match.end()
        for match in re.finditer(r"^## ", text, re.MULTILINE)
        if not any(begin <= match.start() < end for begin, end in in_code)
    ]
    return [text[begin:end] for begin, end in pairwise([0, *begins, len(text)])]


def commands_in(block: str) -> list[ShownCommand]:
    """Return the commands of a console block."""
    found: list[ShownCommand] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append(ShownCommand(line[2:].rstrip("\n"), ""))
        elif _goes_on(found[-1]):
            found[-1] = ShownCommand(f"{found[-1].written}\n{line.rstrip()}", "")
        else:
            found[-1] = ShownCommand(found[-1].written, found[-1].output + line)
    return found


def file_name(text: str) -> str:
    """Return the name of the file that a block is written to, empty without one."""
    found = _FILE.match(text)
    return found[1] if found else ""


def _goes_on(command: ShownCommand) -> bool:
    """Return whether the next line belongs to a command."""
    here = _HERE_DOCUMENT.search(command.written)
    unended = here is not None and command.written.splitlines()[-1] != here[1]
    return not command.output and (unended or command.written.endswith("\\"))


def matches(shown: str, printed: str) -> bool:
    """Return whether an output is as it is shown."""
    lines = (r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown.splitlines())
    return re.fullmatch("".join(lines), printed if printed.endswith("\n") else f"{printed}\n") is not None


class DocumentRunner:
    """Runs the blocks of a section in a folder that has the examples, and the data of tests.

    Commands of kubesched are run in this process; with an `environment`, all are run in it, as processes.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = environment
        self._names: dict[str, Any] = {"__name__": "shown"}
        self._code = 0
        for name in ("examples", "packages"):
            (folder / name).symlink_to(ROOT / name)

    def differences(self, section: DocumentSection) -> Iterator[ShownOutput]:
        """Run a section; yield the examples that print something else."""
        code = printed = ""
        for language, text in section.blocks:
            if name := file_name(text):
                (self._folder / name).write_text(text)
            elif language == "console":
                for command in commands_in(text):
                    output = self._run(command.line)
                    if command.output and not matches(command.output, output):
                        yield ShownOutput(f"$ {command.written}\n", command.output, output)
            elif language == "python":
                code, printed = text, self._execute(text)
            elif language == "text" and code and not matches(text, printed):
                yield ShownOutput(f"```python\n{code}```\n\n```text\n", text, printed)

    def _run(self, line: str) -> str:
        if line == "echo $?":
            return f"{self._code}\n"
        environment = {**(self._environment or os.environ), "COLUMNS": COLUMNS, "NO_COLOR": "1"}
        if self._environment is None and line.startswith("kubesched ") and not _FOR_A_SHELL.search(line):
            with contextlib.chdir(self._folder):
                result = CliRunner(env=environment).invoke(kubesched, shlex.split(line)[1:])
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            self._code = result.exit_code
            return result.output
        done = subprocess.run(
            ["sh", "-c", line], cwd=self._folder, env=environment, capture_output=True, text=True, check=False
        )
        self._code = done.returncode
        return done.stdout + done.stderr

    def _execute(self, text: str) -> str:
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(text, "shown", "exec"), self._names)
        return printed.getvalue()


def renewed(text: str) -> str:
    """Return a document with the outputs that its examples print now."""
    for group in run_together(text):
        with tempfile.TemporaryDirectory() as folder:
            runner = DocumentRunner(Path(folder))
            for found in [found for section in group for found in runner.differences(section)]:
                text = text.replace(found.example + found.shown, found.example + found.printed, 1)
    return text


def run_together(text: str) -> list[list[DocumentSection]]:
    """Return the sections that are run, those of one folder together."""
    run = [section for section in sections(text) if section.is_run]
    return [run] if _IN_ONE_FOLDER in text else [[section] for section in run]


def main() -> None:
    """Renew documents in place."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ.pop("KUBECONFIG", None)
    for name in sys.argv[1:]:
        path = Path(name)
        before = path.read_text()
        after = renewed(before)
        if after != before:
            path.write_text(after)


if __name__ == "__main__":
    main()
