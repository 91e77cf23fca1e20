"""Flags with kubectl's names and kubectl's meaning.

In: a context of click, texts of options. Out: whether the command runs as a plugin of kubectl; and the fields of a
`ContextChoice` as parameters of the command.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kubesched.config.golang import parse_duration

F = TypeVar("F", bound=Callable[..., Any])

# the plugin's command line, which is the name of its root context
KUBECTL_KUBESCHED = "kubectl kubesched"

# the fields of a ContextChoice that concern requests
REQUEST_PARAMETERS = (
    "impersonate",
    "impersonate_groups",
    "impersonate_uid",
    "request_timeout_seconds",
    "server",
    "token",
    "certificate_authority",
    "insecure_skip_tls_verify",
    "tls_server_name",
    "client_certificate",
    "client_key",
)
_NO_PASSWORDS = "name a user of the kubeconfig with --user, or give --token"
# flags of kubectl that commands do not have, and what to do instead
_ABSENT = {
    "-A": "all namespaces are read anyway",
    "--all-namespaces": "all namespaces are read anyway",
    "-v": "requests are not logged",
    "--v": "requests are not logged",
    "--as-user-extra": "write as-user-extra into the kubeconfig",
    "--username": _NO_PASSWORDS,
    "--password": _NO_PASSWORDS,
    "--cache-dir": "nothing is cached",
    "--disable-compression": "answers are never compressed",
    "--match-server-version": "older and newer servers are read as they are",
}


def is_kubectl_plugin(context: click.Context) -> bool:
    """Return whether the command was called as `kubectl kubesched`."""
    return context.find_root().info_name == KUBECTL_KUBESCHED


def request_options(command: F) -> F:
    """Give a command kubectl's flags for requests; the rare flags are hidden in its help."""
    for declarations, settings in reversed(_OPTIONS):
        command = click.option(*declarations, **settings)(command)
    return command


def with_kubectl_hint(error: click.NoSuchOption) -> click.NoSuchOption:
    """Return the error about an unknown option, with advice if kubectl has that option."""
    hint = _ABSENT.get(error.option_name)
    if hint is None:
        return error
    message = f"kubectl's {error.option_name} does not exist here: {hint}."
    return click.NoSuchOption(error.option_name, message, ctx=error.ctx)


def _seconds(context: click.Context, option: click.Parameter, text: str) -> float:
    """Parse a duration as kubectl does: a number without a unit is in seconds (a callback of click)."""
    try:
        seconds = float(text) if text.isdecimal() else parse_duration(text).seconds
    except ValueError:
        seconds = -1.0
    if seconds < 0:
        raise click.BadParameter(f"{text!r} is not a duration such as 30s or 2m", context, option)
    return seconds


_OPTIONS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("--as", "impersonate"), {"default": "", "metavar": "USER", "help": "User to impersonate."}),
    (("--as-group", "impersonate_groups"), {"multiple": True, "metavar": "GROUP", "help": "Group to impersonate."}),
    (("--as-uid", "impersonate_uid"), {"default": "", "hidden": True}),
    (
        ("--request-timeout", "request_timeout_seconds"),
        {"default": "0", "metavar": "30s", "callback": _seconds, "help": "Timeout for one request; 0 means none."},
    ),
    (("-s", "--server", "server"), {"default": "", "hidden": True}),
    (("--token",), {"default": "", "hidden": True}),
    (("--certificate-authority",), {"default": "", "hidden": True}),
    (("--insecure-skip-tls-verify",), {"is_flag": True, "hidden": True}),
    (("--tls-server-name",), {"default": "", "hidden": True}),
    (("--client-certificate",), {"default": "", "hidden": True}),
    (("--client-key",), {"default": "", "hidden": True}),
]
