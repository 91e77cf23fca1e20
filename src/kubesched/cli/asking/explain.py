"""`kubesched explain`: why is it pending, and what would help?

In: a cluster, and what to explain. Out: an answer, and exit code 0 (it fits), 3 (it does not) or 1 (an error).
"""

import sys

import click

from kubesched.asking.explain.explain_pod import explain_named_pod
from kubesched.asking.explain.pod_answer import BOUND, FINISHED, SCHEDULABLE
from kubesched.asking.model import ClusterModel
from kubesched.asking.reports.explain_report import pod_report
from kubesched.cli.asking.options import model_options
from kubesched.cli.asking.output import OutputOptions, output_option, print_answer
from kubesched.cli.command_group import CommandGroup

DOES_NOT_FIT = 3


@click.group("explain", cls=CommandGroup)
def explain() -> None:
    """Explain why pods are pending, and what would help."""


@explain.command("pod")
@click.argument("name", metavar="NAMESPACE/NAME")
@model_options
@output_option
def explain_pod_command(name: str, model: ClusterModel, output: OutputOptions) -> None:
    """Explain one pod."""
    answer = explain_named_pod(model, name)
    print_answer(answer, pod_report(answer), output)
    sys.exit(0 if answer.verdict in (SCHEDULABLE, BOUND, FINISHED) else DOES_NOT_FIT)
