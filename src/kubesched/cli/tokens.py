"""Who is let in to an API server on this machine, with which token, and where the kubeconfig for it goes.

In: files, and a folder if there are tokens of last time. Out: tokens, whoever is named first first.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from kubesched.controlplane.api.requests import ADMINISTRATOR, User
from kubesched.controlplane.data_folder import KUBECONFIG, SCHEDULER_KUBECONFIG, DataFolder
from kubesched.controlplane.running import SCHEDULER
from kubesched.controlplane.transport.kubeconfig import new_token


class UserToken(NamedTuple):
    """Who is let in, with which token, and the file for it; None: one among the user's state, while it serves."""

    user: User
    token: str
    file: Path | None


def new_tokens(file: Path | None, scheduler_file: Path | None = None) -> list[UserToken]:
    """Return who is let in, with tokens that are new."""
    found = [UserToken(ADMINISTRATOR, new_token(), file)]
    if scheduler_file is not None:
        found.append(UserToken(SCHEDULER, new_token(), scheduler_file))
    return _checked(found)


def kept_tokens(folder: DataFolder, file: Path | None, scheduler_file: Path | None = None) -> list[UserToken]:
    """Return who is let in, with the tokens of last time; their kubeconfigs are also in the folder."""
    found = []
    for user, name, own in ((ADMINISTRATOR, KUBECONFIG, file), (SCHEDULER, SCHEDULER_KUBECONFIG, scheduler_file)):
        token = folder.token(name)
        found += [UserToken(user, token, each) for each in (own, folder.file(name)) if each is not None]
    return _checked(found)


def _checked(tokens: Sequence[UserToken]) -> list[UserToken]:
    """Return tokens, once nobody's kubeconfig replaces that of somebody else."""
    users: dict[Path, User] = {}
    for each in tokens:
        if each.file is not None and users.setdefault(each.file.resolve(), each.user) != each.user:
            raise click.BadParameter(f"{each.file} is for another kubeconfig", param_hint="--scheduler-kubeconfig")
    return list(tokens)
