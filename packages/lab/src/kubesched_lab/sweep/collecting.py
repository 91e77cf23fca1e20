"""The collector: hands runs to workers, keeps their outcomes, and reports progress.

From runs without a result to results. The results depend neither on the workers nor on the order in which runs end.
"""

from collections.abc import Sequence

from kubesched_lab.sweep.progress import SweepProgress
from kubesched_lab.sweep.results import SweepResults
from kubesched_lab.sweep.runs import SweepRun, Workers


def collect(runs: Sequence[SweepRun], workers: Workers, results: SweepResults, progress: SweepProgress) -> int:
    """Have workers carry out the runs that have no result yet; return the number of failed runs.

    After an interrupt, all outcomes so far are written.
    """
    # two runs may be the same, as when a search tries values twice
    todo = {run.id: run for run in runs if run.id not in results.rows}
    progress.found(len(runs) - len(todo))
    progress.begin()
    failed = 0
    try:
        for outcome in workers.outcomes(list(todo.values())):
            run = todo[outcome.id]
            results.add(outcome, run.name)
            for note in outcome.notes:
                # messages that are the same for all runs of a trace are reported once
                progress.note(f"{run.name}: {note}", once=note)
            if outcome.error:
                failed += 1
                progress.note(f"{run.name}: failed: {outcome.error}")
            progress.ended(failed=bool(outcome.error))
    finally:
        results.flush()
    return failed
