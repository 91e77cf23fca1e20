"""The collector: hands runs to workers, keeps what comes back, and tells of it.

From runs that are not done yet to results; the same results whoever carries them out, in whatever order they end.
"""

from collections.abc import Sequence

from kubesched.sweep.progress import SweepProgress
from kubesched.sweep.results import SweepResults
from kubesched.sweep.runs import SweepRun, Workers


def collect(runs: Sequence[SweepRun], workers: Workers, results: SweepResults, progress: SweepProgress) -> int:
    """Have the runs carried out that have no result yet; return how many failed.

    What is there when it is interrupted is written.
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
                # what is the same for all runs of a trace is told for the first of them
                progress.note(f"{run.name}: {note}", once=note)
            if outcome.error:
                failed += 1
                progress.note(f"{run.name}: failed: {outcome.error}")
            progress.ended(failed=bool(outcome.error))
    finally:
        results.flush()
    return failed
