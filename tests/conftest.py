"""Hypothesis takes the same examples every time; `make test-random` looks for new ones.

What was imported and collected stays: the garbage collector need not look at it again in every test.
"""

import gc
import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile("random" if os.environ.get("KUBESCHED_RANDOM") else "same")


def pytest_collection_finish() -> None:
    """Leave what was collected out of garbage collections."""
    gc.collect()
    gc.freeze()
