"""Tell a cancelled task or an ending process from a failure of the task's work."""

import asyncio

from kubesched.core.framework.calling.hooks import is_interrupt


def is_called_off(raised: BaseException) -> bool:
    """Return whether this task was cancelled or this process is ending, rather than the current await alone."""
    if is_interrupt(raised):
        return True
    if isinstance(raised, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    # a coroutine that is thrown away ends outside of its task
    return isinstance(raised, GeneratorExit) and _nobody_runs()


def _nobody_runs() -> bool:
    try:
        return asyncio.current_task() is None
    except RuntimeError:
        return True
