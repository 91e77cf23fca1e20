"""Parts of kubesched in separate distributions, which may be missing.

From the name of a module to its attribute, or to an error that names the distribution to install. Lower rooms
name the parts above as text, and import them when they are first used.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from kubesched.errors import KubeschedError

# the packages of the other distributions
DISTRIBUTIONS: Final[Mapping[str, str]] = {
    "kubesched_answers": "kubesched-answers",
    "kubesched_controlplane": "kubesched-controlplane",
    "kubesched_lab": "kubesched-lab",
}


class MissingDistributionError(KubeschedError, ImportError):
    """A command or name of a distribution that is not installed; the message says how to install it."""


def distribution_of(module: str) -> str:
    """Return the distribution that a module is in."""
    return DISTRIBUTIONS.get(module.partition(".")[0], "kubesched-scheduler")


@cache
def is_installed(module: str) -> bool:
    """Return whether the distribution of a module is installed; nothing is imported."""
    return find_spec(module.partition(".")[0].partition(":")[0]) is not None


def imported(module: str, attribute: str, purpose: str) -> Any:
    """Return an attribute of a module; raises MissingDistributionError, which names what needs its distribution."""
    if not is_installed(module):
        raise MissingDistributionError(f"{purpose} needs pip install {distribution_of(module)}")
    return getattr(import_module(module), attribute)
