"""Install a lock file and report the progress: `python tools/install.py PYTHON LOCK`, for the Makefile.

From the lines that pip prints to a line that counts packages: rewritten in place on a terminal, else printed every few
seconds. If pip fails, everything that it printed follows. Only the standard library is used.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

# the seconds between two lines where the output is no terminal
PAUSE = 10.0


def locked(lock: str) -> int:
    """Return how many packages a lock file names for all machines together."""
    return len(re.findall(r"^[A-Za-z0-9][\w.-]*==", lock, re.MULTILINE))


def steps(lines: Iterator[str], total: int) -> Iterator[str]:
    """Return the state after each line of pip that changes it."""
    found = 0
    for line in lines:
        if line.startswith("Collecting "):
            found += 1
            yield f"downloading packages: {found} of at most {total}"
        elif line.startswith("Installing collected packages"):
            yield f"unpacking {found} packages"


class Progress:
    """Writes the latest state, in place on a terminal, every `PAUSE` seconds elsewhere."""

    def __init__(self, out: TextIO) -> None:
        """Write to a stream."""
        self._out = out
        self._live = out.isatty()
        self._begin = time.monotonic()
        self._last = -PAUSE

    def show(self, state: str) -> None:
        """Show a state."""
        passed = time.monotonic() - self._begin
        if self._live:
            self._out.write(f"\r\x1b[K  {state}")
        elif passed - self._last >= PAUSE or state.startswith("unpacking"):
            self._last = passed
            self._out.write(f"  {state}\n")
        self._out.flush()

    def end(self, text: str) -> None:
        """Leave a last line."""
        clear = "\r\x1b[K" if self._live else ""
        self._out.write(f"{clear}  {text} ({time.monotonic() - self._begin:.0f} s)\n")
        self._out.flush()


def main(python: str, lock: str) -> int:
    """Install, and return the exit code of pip."""
    total = locked(Path(lock).read_text())
    print(f"Installing the packages of {lock} into {Path(python).parents[1]}: one to three minutes", flush=True)
    words = [python, "-m", "pip", "install", "--no-input", "--progress-bar=off", "--disable-pip-version-check"]
    words += ["--require-hashes", "--no-deps", "--no-compile", "-r", lock]
    printed: list[str] = []
    progress = Progress(sys.stdout)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as pip:
        assert pip.stdout is not None

        def lines(source: Iterable[str]) -> Iterator[str]:
            for line in source:
                printed.append(line)
                yield line

        for state in steps(lines(pip.stdout), total):
            progress.show(state)
    if pip.returncode:
        progress.end("pip failed")
        sys.stdout.write("".join(printed))
    else:
        progress.end("the packages are installed")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
