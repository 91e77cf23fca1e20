"""Completion of names in shells: pods and nodes of the cluster that the options name.

In: the word typed so far. Out: the names that complete it.
"""

import click
from click.shell_completion import CompletionItem

from kubesched.cli.kubectl_flags import is_kubectl_plugin
from kubesched.cli.source_options import source_of


def pod_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a pod, or `namespace/name`."""
    namespace, slash, _ = incomplete.rpartition("/")
    names = _names(context, "Pod", namespace)
    return _beginning([f"{namespace}{slash}{name}" for name in names], incomplete)


def node_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a node."""
    return _beginning(_names(context, "Node"), incomplete)


def explain_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the argument of `explain`: a kind or a name."""
    return _beginning(["pods", "pod", "node"], incomplete)


def _names(context: click.Context, kind: str, namespace: str = "") -> list[str]:
    # imported here: a client of API servers, which commands about files do not need
    from kubesched_answers.sources.object_names import names_in

    given = {name: value for name, value in context.params.items() if value is not None}
    return names_in(source_of(given, of_kubectl=is_kubectl_plugin(context)), kind, namespace)


def _beginning(names: list[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
