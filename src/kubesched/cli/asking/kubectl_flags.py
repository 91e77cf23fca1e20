"""Whether a command runs as a plugin of kubectl, whose flags have kubectl's meaning.

In: a context of click. Out: yes or no.
"""

import click

# how the plugin is called; the name of the root of its contexts
KUBECTL_KUBESCHED = "kubectl kubesched"


def is_kubectl_plugin(context: click.Context) -> bool:
    """Return whether the command was called as `kubectl kubesched`."""
    return context.find_root().info_name == KUBECTL_KUBESCHED
