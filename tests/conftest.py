"""Hypothesis takes the same examples every time; `make test-random` looks for new ones."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile("random" if os.environ.get("KUBESCHED_RANDOM") else "same")
