"""Which context of a kubeconfig is meant.

From a command line to whoever reads kubeconfigs.
"""

import msgspec


class ContextChoice(msgspec.Struct, frozen=True):
    """What a command line puts in the place of the current context, and of parts of a context."""

    context: str = ""
    cluster: str = ""
    user: str = ""


CURRENT_CONTEXT = ContextChoice()
