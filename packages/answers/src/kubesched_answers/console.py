"""The console scripts of kubectl's plugin, run as in `kubesched.console`."""

from collections.abc import Callable

from kubesched.console import be


def kubectl_kubesched() -> None:
    """Run `kubectl-kubesched`, the plugin of kubectl."""
    be(_kubectl_kubesched)


def kubectl_complete_kubesched() -> None:
    """Run `kubectl_complete-kubesched`, which gives kubectl completions."""
    be(_kubectl_completion)


def _kubectl_kubesched() -> Callable[[], object]:
    from kubesched.cli.kubectl_flags import KUBECTL_KUBESCHED
    from kubesched_answers.cli.kubectl import kubectl_kubesched

    return lambda: kubectl_kubesched(prog_name=KUBECTL_KUBESCHED)


def _kubectl_completion() -> Callable[[], object]:
    from kubesched_answers.cli.kubectl import complete_command_line

    return complete_command_line
