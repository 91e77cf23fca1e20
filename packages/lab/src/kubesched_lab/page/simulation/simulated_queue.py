"""The queue of a simulation, now and since its beginning.

From a run, which keeps the history of its queue, to the answer of /v1/queue. Call this module in the thread of the run.
"""

from datetime import datetime, timedelta
from typing import Any

from kubesched.common.virtual_time import BEGINNING
from kubesched.serving.queue.reading import read_queue
from kubesched_lab.page.queue.answer import answer_of
from kubesched_lab.page.queue.reading import of_page
from kubesched_lab.page.simulation.page_run import PageRun


def simulated_queue(run: PageRun) -> dict[str, Any]:
    """Return the queue of a run."""
    now = run.loop.time()
    page = read_queue(run.driver.scheduler.queue, now, _date(now))
    run.queue_history.note(page.now.timestamp(), page.counts, page.moves)
    return answer_of(of_page(page), run.queue_history, BEGINNING.timestamp())


def _date(seconds: float) -> datetime:
    return BEGINNING + timedelta(seconds=seconds)
