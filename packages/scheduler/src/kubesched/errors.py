"""The errors that kubesched raises on purpose: problems that a user can act on, one sentence for each.

A rejection is a value (`core.framework.Status`); an exception is a fault of the input or a bug.
docs/reference/errors.md has the tree.
"""


class KubeschedError(Exception):
    """Base of every error that kubesched raises on purpose."""


class InvalidObjectError(KubeschedError):
    """An object that does not have the shape Kubernetes gives it."""


class KubeconfigError(KubeschedError):
    """A kubeconfig that cannot be read or written; the text names the file, or the field."""


class PluginError(KubeschedError):
    """A plugin that cannot be loaded, or that broke its contract."""
