"""Optional libraries: extras of the distribution, imported when they are used.

From a module's name to the module, or to a sentence with the pip command that installs it.
"""

from importlib import import_module
from typing import Any

from kubesched.errors import KubeschedError


def extra_module(name: str, extra: str, purpose: str) -> Any:
    """Return a module of an extra; raises KubeschedError, which names the purpose and the pip command."""
    try:
        return import_module(name)
    except ImportError:
        raise KubeschedError(f"{purpose} needs pip install 'kubesched[{extra}]'") from None
