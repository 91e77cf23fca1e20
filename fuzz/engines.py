"""The two engines: each runs one target in this process for a while and returns the finding, if there is one."""

import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.mutation import inputs
from fuzz.targets import Target, seeds_of

# examples between two looks at the clock
BATCH = 50
# an input that takes longer is a finding
LONGEST_SECONDS = 20
MOST_MEGABYTES = 4096


class TooLongError(Exception):
    """An input holds the process up."""


def with_hypothesis(name: str, target: Target, seconds: float) -> tuple[int, bytes | None, str]:
    """Return how many inputs were tried, the smallest one that is a finding, if any, and its traceback."""
    until, tried, latest = time.monotonic() + seconds, 0, b""

    def check(data: bytes) -> None:
        nonlocal tried, latest
        tried, latest = tried + 1, data
        with time_limit(LONGEST_SECONDS):
            target(data)

    strategy, number = inputs(seeds_of(name)), time.time_ns()
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    rules = settings(max_examples=BATCH, deadline=None, database=None, phases=phases,
                     suppress_health_check=list(HealthCheck), print_blob=False)  # fmt: skip
    while time.monotonic() < until:
        number += 1
        try:
            seed(number)(rules(given(strategy)(check)))()
        except Exception:  # whatever leaves a target is a finding
            return tried, latest, traceback.format_exc()
    return tried, None, ""


def with_atheris(name: str, target: Target, seconds: float) -> None:
    """Run libFuzzer; the process ends with a code that is not 0 if there is a finding, which it writes to a file."""
    import atheris

    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(seeds_of(name)):
            Path(folder, f"seed-{number}").write_bytes(data)
        options = [
            f"-max_total_time={int(seconds)}",
            f"-timeout={LONGEST_SECONDS}",
            f"-rss_limit_mb={MOST_MEGABYTES}",
            "-max_len=65536",
            "-print_final_stats=1",
        ]
        # options given on the command line override these
        atheris.Setup([sys.argv[0], folder, *options, *sys.argv[1:]], target)
        atheris.Fuzz()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooLongError if what is done here takes longer."""

    def alarm(number: int, frame: FrameType | None) -> None:
        raise TooLongError(f"this takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
