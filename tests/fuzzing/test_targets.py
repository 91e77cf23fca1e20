"""Every fuzz target bears its seeds, a few changes to them, and what fuzzing has found before."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

from fuzz.mutation import inputs
from fuzz.targets import all_targets, seeds_of
from fuzz.verdict_targets import CORPUS, FILES

TARGETS = all_targets()
Target = Callable[[bytes], None]


def test_every_file_of_the_corpus_is_a_target() -> None:
    files = sorted(path.name.removesuffix(".jsonl.gz") for path in CORPUS.glob("*.jsonl.gz"))
    assert len(files) > 15
    assert list(FILES) == files
    assert sum(name.endswith(tuple(files)) for name in TARGETS) >= len(files)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_bears_its_seeds(name: str) -> None:
    # of the conformance corpus, which packages/scheduler/tests/conformance runs, a few are enough
    for data in seeds_of(name)[:40]:
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_bears_changes(name: str) -> None:
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(inputs(seeds_of(name)))
    def check(data: bytes) -> None:
        TARGETS[name](data)

    check()
