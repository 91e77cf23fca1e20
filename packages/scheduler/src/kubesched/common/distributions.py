"""Parts of kubesched that are distributions of their own, and may not be installed.

From the name of a module to an attribute of it, or to one sentence that says which distribution to install. The rooms
below know the parts above by name alone, and import them when they are used.
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
    """Something of a distribution that is not installed; the message says how to install it."""


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
