"""Parquet files that a user opens in the page, as lines.

    a.parquet ──▶ a separate process, with limits of memory, time and output ──▶ a.parquet.rows, checked as lines

A Parquet file itself declares how much memory its pages take, and a C++ library reads it. So the page does not read
the file in its own process: it starts another one, which may run out of memory without harm.
"""

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from kubesched.errors import KubeschedError
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.parquet_trace import ROW_LINES, write_row_lines

# of the process: what it allocates, and its processor time
MOST_MEMORY: Final = 1 << 30
MOST_SECONDS: Final = 120
_POLL_SECONDS: Final = 0.1
_LONGEST_REASON: Final = 2000


class Limits(NamedTuple):
    """Limits of a file: bytes of its lines together, lines, bytes of one line, bytes of memory."""

    largest: int
    most_rows: int
    longest_line: int
    memory: int = MOST_MEMORY


def as_lines(path: Path, go_on: Callable[[], None], limits: Limits) -> Path:
    """Write a file's rows as lines to a file beside it, and return that; raises TraceError, and any exception of
    `go_on`.
    """
    target = path.with_name(path.name + ROW_LINES)
    command = [sys.executable, "-m", __name__, str(path), *map(str, limits)]
    # jemalloc and mimalloc reserve more than they use
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
    with (
        target.open("wb") as out,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, env=environment
        ) as process,
    ):
        reasons: list[bytes] = []
        # a process that writes many warnings must not wait for a reader
        reading = threading.Thread(target=_read_reason, args=(process, reasons), daemon=True)
        reading.start()
        try:
            while _runs(process):
                go_on()
        except BaseException:
            process.kill()
            raise
        finally:
            # before the stream is closed under the thread
            reading.join()
    if process.returncode == 0:
        path.unlink()
        return target
    reason = b"".join(reasons).decode("utf-8", "replace").strip()
    if process.returncode == 1 and reason:
        raise TraceError(reason)
    raise TraceError(
        f"{path.name}: cannot be read as Parquet: it takes more than {limits.memory >> 20} MiB of memory, "
        f"{MOST_SECONDS} s of processor time or {limits.largest >> 20} MiB as lines"
    )


def _runs(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _read_reason(process: "subprocess.Popen[bytes]", reasons: list[bytes]) -> None:
    assert process.stderr is not None
    reasons.append(process.stderr.read(_LONGEST_REASON))
    while process.stderr.read(_LONGEST_REASON):
        pass


def main(path: str, limits: Limits) -> int:
    """Write the rows of a file as lines to stdout; return exit code 1 after a fault, with a sentence on stderr."""
    resource.setrlimit(resource.RLIMIT_DATA, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.largest, limits.largest))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        write_row_lines(Path(path), sys.stdout.buffer, limits.most_rows, limits.longest_line)
        sys.stdout.buffer.flush()
    except KubeschedError as error:
        print(str(error)[:_LONGEST_REASON], file=sys.stderr)
        return 1
    except (MemoryError, OSError):
        return 2
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1], Limits(*map(int, sys.argv[2:])))
    # skip the shutdown of pyarrow's threads, and a second attempt to flush
    os._exit(code)
