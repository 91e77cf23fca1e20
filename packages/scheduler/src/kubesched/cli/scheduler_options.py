"""The options that name a scheduler whose record is read.

In: texts of options. Out: the address of a scheduler as the command's parameter `scheduler`, or None.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    # slow to import, and only --scheduler needs it
    from kubesched.sources.scheduler_records import SchedulerAddress

F = TypeVar("F", bound=Callable[..., Any])
_FILES = ("authority", "token_file", "certificate", "key")


def scheduler_options(
    command: F, *, reads: str = "URL of a scheduler whose decisions (/debug/decisions) the answer includes."
) -> F:
    """Give a command the options of a scheduler, as its parameter `scheduler`; `reads` is the help of --scheduler."""

    @click.option("--scheduler", "url", metavar="URL", help=reads)
    @click.option("--scheduler-ca", "authority", metavar="FILE", help="CA certificate of the scheduler.")
    @click.option(
        "--scheduler-token-file",
        "token_file",
        metavar="FILE",
        help="Bearer token for the scheduler; by default the kubeconfig's.",
    )
    @click.option(
        "--scheduler-certificate", "certificate", metavar="FILE", help="Client certificate for the scheduler."
    )
    @click.option("--scheduler-key", "key", metavar="FILE", help="Key of the client certificate.")
    @functools.wraps(command)
    def with_scheduler(*args: Any, url: str | None, **kwargs: Any) -> Any:
        files = {name: kwargs.pop(name) or "" for name in _FILES}
        return command(*args, scheduler=_address(url, files), **kwargs)

    return with_scheduler  # type: ignore[return-value]


def _address(url: str | None, files: dict[str, str]) -> "SchedulerAddress | None":
    if url is None:
        if any(files.values()):
            raise click.UsageError("--scheduler-ca, -token, -cert and -key need --scheduler URL")
        return None
    from kubesched.sources.scheduler_records import SchedulerAddress

    address = SchedulerAddress(url, **files)
    if address.problem:
        raise click.BadParameter(address.problem, param_hint="--scheduler")
    return address
