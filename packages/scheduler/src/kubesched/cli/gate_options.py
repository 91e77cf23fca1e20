"""`--feature-gates` and `--emulated-version`, the options of every command that reads configurations.

In: the texts of the options. Out: the resulting feature gates, as the command's parameter `gates`.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from kubesched.config.feature_gates import FeatureGates

F = TypeVar("F", bound=Callable[..., Any])


def gate_options(command: F) -> F:
    """Give a command the options about feature gates, and the gates as its parameter `gates`."""

    @click.option(
        "--feature-gates",
        "feature_gates",
        multiple=True,
        metavar="A=true,B=false",
        help="Feature gates, such as A=true,B=false.",
    )
    @click.option(
        "--emulated-version",
        "versions",
        multiple=True,
        metavar="1.35",
        help="Kubernetes release whose default feature gates apply.",
    )
    @functools.wraps(command)
    def with_gates(*args: Any, feature_gates: tuple[str, ...], versions: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, gates=FeatureGates.parse(",".join(feature_gates), versions), **kwargs)

    return with_gates  # type: ignore[return-value]
