"""Hypothesis takes the same examples every time; `make test-random` looks for new ones.

What was imported and collected stays: the garbage collector need not look at it again in every test.

Signals are heeded, also by processes that tests start: `nohup` and shells that run tests in the background ignore some.
"""

import gc
import os
import signal

from hypothesis import given, settings, strategies

settings.register_profile("same", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile("random" if os.environ.get("KUBESCHED_RANDOM") else "same")

for number, default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, default)


@settings(max_examples=1)
@given(strategies.none())
def begin(_: None) -> None:
    """Have Hypothesis register its random numbers: it looks for their owner, which it cannot find once frozen."""


def pytest_collection_finish() -> None:
    """Leave what was collected out of garbage collections."""
    begin()
    gc.collect()
    gc.freeze()
