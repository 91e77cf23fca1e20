"""The users of an API server on this machine, each with a bearer token and a kubeconfig file.

In: paths of kubeconfigs, and the data folder with the tokens of the last run. Out: tokens, the administrator's first.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.data_folder import KUBECONFIG, SCHEDULER_KUBECONFIG, DataFolder
from kubesched_controlplane.running import SCHEDULER
from kubesched_controlplane.transport.kubeconfig import new_token


class UserToken(NamedTuple):
    """A user, its token and its kubeconfig file; None means a file in the user's state directory, removed at the
    end.
    """

    user: User
    token: str
    file: Path | None


def new_tokens(file: Path | None, scheduler_file: Path | None = None) -> list[UserToken]:
    """Return new tokens for the administrator and the scheduler."""
    found = [UserToken(ADMINISTRATOR, new_token(), file)]
    if scheduler_file is not None:
        found.append(UserToken(SCHEDULER, new_token(), scheduler_file))
    return _checked(found)


def kept_tokens(folder: DataFolder, file: Path | None, scheduler_file: Path | None = None) -> list[UserToken]:
    """Return the tokens of the last run; their kubeconfigs are also in the data folder."""
    found = []
    for user, name, own in ((ADMINISTRATOR, KUBECONFIG, file), (SCHEDULER, SCHEDULER_KUBECONFIG, scheduler_file)):
        token = folder.token(name)
        found += [UserToken(user, token, each) for each in (own, folder.file(name)) if each is not None]
    return _checked(found)


def _checked(tokens: Sequence[UserToken]) -> list[UserToken]:
    """Return tokens; BadParameter if two users have the same kubeconfig."""
    users: dict[Path, User] = {}
    for each in tokens:
        if each.file is not None and users.setdefault(each.file.resolve(), each.user) != each.user:
            raise click.BadParameter(
                f"{each.file} is already used for another kubeconfig", param_hint="--scheduler-kubeconfig"
            )
    return list(tokens)
