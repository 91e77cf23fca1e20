"""The search for a configuration: `kubesched sweep --tune`.

From a prepared sweep to trials. Optuna chooses values for some fields of the configuration, a few trials at a time.
Workers carry out the runs of these trials, over all traces and seeds. Optuna gets the mean of the objective over the
runs, in the order of the trials, so the same seed gives the same trials with any number of workers. A resumed search
repeats the same trials, whose runs already have results.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubesched.common.extras import extra_module
from kubesched_lab.sweep.errors import SweepError, about
from kubesched_lab.sweep.inputs import configurations_of
from kubesched_lab.sweep.planning import ConfigVariant, config_variants, config_with
from kubesched_lab.sweep.preparing import PreparedSweep, check
from kubesched_lab.sweep.report import unknown_figure
from kubesched_lab.sweep.runs import SweepRun
from kubesched_lab.sweep.tune_spec import SearchSpec, TuneSpec

BASE = "base"
# with fewer trials the importance of fields is random
LEAST_TRIALS = 20
_DIGITS = 6
Rows = Mapping[str, Mapping[str, Any]]
# carries out runs, and returns the existing rows by id
CarryOut = Callable[[Sequence[SweepRun]], Rows]


class TuneTrial(msgspec.Struct, frozen=True):
    """A configuration that was tried: the values of its fields, and its objective, None if a run failed."""

    name: str
    parameters: dict[str, Any]
    objective: float | None


class ConfigSearch:
    """A search, which requests trials and gets their results."""

    def __init__(self, prepared: PreparedSweep) -> None:
        if prepared.spec.tune is None:
            raise SweepError(f"{prepared.path}: --tune needs the field `tune`: an objective and parameters")
        self._optuna = extra_module("optuna", "tune", "--tune")
        self._optuna.logging.set_verbosity(self._optuna.logging.ERROR)
        self._prepared = prepared
        self.spec: TuneSpec = prepared.spec.tune
        with about(prepared.path):
            self._base = _base_of(prepared)
        self._study = self._optuna.create_study(
            direction="minimize" if self.spec.minimise else "maximize",
            sampler=self._optuna.samplers.TPESampler(seed=self.spec.sampler_seed),
        )
        self._fields = {path: self._distribution(search) for path, search in self.spec.parameters.items()}
        # all finished trials, in their order
        self.runs: dict[str, SweepRun] = {}

    @property
    def runs_a_trial(self) -> int:
        """Return the number of runs of a trial."""
        return len(self._prepared.runs_of([self._base]))

    def trials(self, carry_out: CarryOut) -> Iterator[list[TuneTrial]]:
        """Yield finished trials, some at a time; the first is the unchanged configuration."""
        base = self._planned(self._base)
        check(self._prepared.setup, base)
        # an unknown figure is reported after the first run
        self._objective(base[:1], carry_out(base[:1]))
        yield [TuneTrial(BASE, {}, self._objective(base, carry_out(base[1:])))]
        done = 0
        while done < self.spec.trials:
            count = min(self.spec.batch, self.spec.trials - done)
            yield self._batch(range(done, done + count), carry_out)
            done += count

    def _batch(self, numbers: Sequence[int], carry_out: CarryOut) -> list[TuneTrial]:
        asked = [self._study.ask(self._fields) for _ in numbers]
        values = [self._values(each.params) for each in asked]
        runs = []
        for number, fields in zip(numbers, values, strict=True):
            text = config_with(self._base.text, fields, "tune.parameters")
            runs.append(self._planned(ConfigVariant(f"trial {number}", text, {})))
        for each in runs:
            check(self._prepared.setup, each[:1])
        rows = carry_out([run for each in runs for run in each])
        found = []
        for number, trial, fields, each in zip(numbers, asked, values, runs, strict=True):
            objective = self._objective(each, rows)
            if objective is None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(trial, objective)
            found.append(TuneTrial(f"trial {number}", fields, objective))
        return found

    def _planned(self, config: ConfigVariant) -> list[SweepRun]:
        runs = self._prepared.runs_of([config])
        self.runs.update((run.id, run) for run in runs if run.id not in self.runs)
        return runs

    def _objective(self, runs: Sequence[SweepRun], rows: Rows) -> float | None:
        """Return the mean of the objective over runs, None if one failed; raises SweepError."""
        total = 0.0
        for run in runs:
            row = rows.get(run.id)
            if row is None:
                return None
            for figure, weight in self.spec.weights.items():
                value = row.get(figure)
                if not isinstance(value, int | float):
                    known = sorted(name for name, each in row.items() if isinstance(each, int | float))
                    raise SweepError(f"{self._prepared.path}: tune: {unknown_figure(figure, known)}")
                total += weight * value
        return round(total / len(runs), _DIGITS)

    def _distribution(self, search: SearchSpec) -> Any:
        kinds = self._optuna.distributions
        if search.choice is not None:
            return kinds.CategoricalDistribution([json.dumps(each, sort_keys=True) for each in search.choice])
        if search.integers is not None:
            return kinds.IntDistribution(*search.integers, log=search.log)
        assert search.numbers is not None
        return kinds.FloatDistribution(*search.numbers, log=search.log)

    def _values(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that Optuna chose, rounded so that they are the same on any machine."""
        found = {}
        for path, search in self.spec.parameters.items():
            value = asked[path]
            if search.choice is not None:
                found[path] = json.loads(value)
            else:
                found[path] = float(f"{value:.{_DIGITS}g}") if search.numbers is not None else value
        return found

    def config_of(self, trial: TuneTrial) -> bytes:
        """Return the configuration of a trial, as a file for --config."""
        text = config_with(self._base.text, trial.parameters, "tune.parameters").decode()
        return f"# {trial.name} of kubesched sweep --tune; {self.objective}: {trial.objective:.6g}\n{text}".encode()

    @property
    def objective(self) -> str:
        """Return the objective of the search, in a few words."""
        sums = [name if weight == 1 else f"{weight:g} x {name}" for name, weight in self.spec.weights.items()]
        return f"{'lowest' if self.spec.minimise else 'highest'} {' + '.join(sums)}"

    def importance(self) -> dict[str, float]:
        """Return the share of the objective's variation that each field explains; empty if it cannot be computed."""
        if len(self._study.get_trials(deepcopy=False, states=[self._optuna.trial.TrialState.COMPLETE])) < LEAST_TRIALS:
            return {}
        importance = self._optuna.importance
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                evaluator = importance.PedAnovaImportanceEvaluator()
                found = importance.get_param_importances(self._study, evaluator=evaluator)
        except (ValueError, RuntimeError, ImportError, Warning):
            # all values are equal
            return {}
        return {path: round(float(share), 3) for path, share in found.items()}


def ranked(trials: Sequence[TuneTrial], *, minimise: bool) -> list[TuneTrial]:
    """Return the successful trials, the best first; equal ones stay in their order."""
    done = [each for each in trials if each.objective is not None]
    return sorted(done, key=lambda each: (each.objective or 0.0) * (1 if minimise else -1))


def _base_of(prepared: PreparedSweep) -> ConfigVariant:
    """Return the configuration to change; raises SweepError if there are several."""
    variants = [
        variant for each in configurations_of(prepared.spec) for variant in config_variants(each, prepared.inputs)
    ]
    if len(variants) != 1:
        raise SweepError(f"configurations: --tune changes one configuration, and these are {len(variants)}")
    return variants[0]._replace(name=BASE)
