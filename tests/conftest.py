"""Hypothesis looks for new examples on a developer's machine, and takes the same ones every time in CI."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, database=None)
if os.environ.get("CI"):
    settings.load_profile("ci")
