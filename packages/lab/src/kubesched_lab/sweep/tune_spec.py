"""The search of `--tune`: objective and parameters, as the specification has them.

    tune:
      minimise: {waiting.p99: 1, pods.preempted: 0.5}
      trials: 40
      parameters: {"profiles[0].plugins.score.enabled[NodeResourcesFit].weight": {int: [1, 20]}}

From a part of a document to values, checked; raises SweepError, which names the field.
"""

from typing import Any

import msgspec

from kubesched_lab.sweep.errors import SweepError, about
from kubesched_lab.sweep.field_paths import steps_of

MOST_TRIALS = 100_000
MOST_BATCH = 1000


class SearchSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The values to try for a field: integers or numbers from a range, or some choices."""

    integers: tuple[int, int] | None = msgspec.field(name="int", default=None)
    numbers: tuple[float, float] | None = msgspec.field(name="float", default=None)
    choice: list[Any] | None = None
    log: bool = False


class TuneSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An objective, which is a figure or a weighted sum of figures, and fields with the values to try."""

    parameters: dict[str, SearchSpec]
    minimise: str | dict[str, float] = ""
    maximise: str | dict[str, float] = ""
    trials: int = 50
    # the number of trials that are chosen at once, independent of the number of workers
    batch: int = 4
    sampler_seed: int = 0

    @property
    def weights(self) -> dict[str, float]:
        """Return the figures of the objective with their weights."""
        given = self.minimise or self.maximise
        return {given: 1.0} if isinstance(given, str) else given


def check_tune(spec: TuneSpec) -> None:
    """Raise SweepError if a search is not possible."""
    if bool(spec.minimise) == bool(spec.maximise):
        raise SweepError("tune: expected minimise or maximise: a figure such as waiting.p99, or figures with weights")
    if not 1 <= spec.trials <= MOST_TRIALS:
        raise SweepError(f"tune.trials is {spec.trials}; expected a number from 1 to {MOST_TRIALS}")
    if not 1 <= spec.batch <= MOST_BATCH:
        raise SweepError(f"tune.batch is {spec.batch}; expected a number from 1 to {MOST_BATCH}")
    if not 0 <= spec.sampler_seed < 1 << 32:
        raise SweepError(f"tune.samplerSeed is {spec.sampler_seed}; expected a number from 0 to 4294967295")
    if not spec.parameters:
        raise SweepError("tune.parameters: expected at least one field")
    for path, search in spec.parameters.items():
        with about("tune.parameters"):
            steps_of(path)
            with about(path):
                _check_search(search)


def _check_search(search: SearchSpec) -> None:
    if sum(each is not None for each in (search.integers, search.numbers, search.choice)) != 1:
        raise SweepError("expected one of {int: [LEAST, MOST]}, {float: [LEAST, MOST]}, {choice: [VALUE, ...]}")
    if search.choice is not None:
        if not search.choice or search.log:
            raise SweepError("choice needs at least one value, and excludes log")
        return
    least, most = search.integers or search.numbers or (0, 0)
    if not -1e15 < least <= most < 1e15:
        raise SweepError(f"the range goes from {least} to {most}; expected the smaller number first")
    if search.log and least <= 0:
        raise SweepError(f"a logarithmic range begins above 0, and this one at {least}")
