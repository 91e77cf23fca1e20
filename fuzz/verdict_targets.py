"""Targets of the plugins: scenarios of the conformance corpus, with anything in the place of anything.

One target for each file of the corpus, and so for each plugin or group of plugins.
"""

import gzip
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from kubesched.conformance.corpus import answer
from kubesched.errors import KubeschedError

CORPUS = Path(__file__).parents[1] / "packages/scheduler/tests/conformance/data"
LONGEST_SEED = 20_000
SEEDS = 60


def verdicts(data: bytes) -> None:
    """A scenario has an answer, or is refused with a sentence."""
    try:
        line = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    if isinstance(line, dict):
        try:
            answer(line)
        except KubeschedError as error:
            if not str(error):
                raise AssertionError("an error without a sentence") from error


def seeds(file: str) -> Iterator[bytes]:
    """Yield lines of a file of the corpus, spread over all of it."""
    with gzip.open(CORPUS / f"{file}.jsonl.gz") as stream:
        lines = [line.strip() for line in stream if len(line) < LONGEST_SEED]
    yield from lines[:: max(1, len(lines) // SEEDS)]


def _target(file: str) -> Callable[[bytes], None]:
    target = partial(verdicts)
    target.__name__ = file  # type: ignore[attr-defined]
    target.__doc__ = verdicts.__doc__
    return target


FILES = tuple(sorted(path.name.removesuffix(".jsonl.gz") for path in CORPUS.glob("*.jsonl.gz")))
TARGETS = tuple(_target(file) for file in FILES)
