"""In: command lines. Out: text for people or JSON, and exit code 0; or 1, with the reasons on standard error.
Never: scheduling logic; each command is a module that calls the rooms below.
"""

import click

from kubesched import __version__
from kubesched.cli.command_group import CommandGroup, LazyCommand
from kubesched.cli.shells import register

# the commands with their descriptions, so that listing them imports none
COMMANDS = {
    "bench": LazyCommand(
        "kubesched_lab.bench.command:bench",
        "Measure a scheduler with workloads in the form of Kubernetes' scheduler_perf.",
    ),
    "capacity": LazyCommand(
        "kubesched_answers.cli.capacity:capacity_command", "Count how many more pods fit, and which nodes to add."
    ),
    "completion": LazyCommand("kubesched.cli.completion:completion", "Print the completion script of a shell."),
    "config": LazyCommand(
        "kubesched.cli.config:config_group", "Show configurations, or migrate an old scheduler policy."
    ),
    "controlplane": LazyCommand(
        "kubesched_controlplane.cli.controlplane:controlplane", "Start a Kubernetes API server on this machine."
    ),
    "doctor": LazyCommand(
        "kubesched.doctor.command:doctor",
        "Check a cluster before kubesched takes over from its scheduler: a line for each finding, with the fix.",
    ),
    "evaluate": LazyCommand("kubesched.cli.evaluate:evaluate", "Evaluate scenarios: what would the scheduler say?"),
    "explain": LazyCommand(
        "kubesched_answers.cli.explain:explain", "Explain why pods are pending, and what would help."
    ),
    "man": LazyCommand("kubesched.cli.man:man", "Write manual pages of all commands into a folder."),
    "page": LazyCommand(
        "kubesched_lab.page.command:page",
        "See a cluster in the browser: its nodes and pods, the pending pods, and why they are pending.",
    ),
    "plugins": LazyCommand("kubesched.cli.plugins:plugins_group", "List, describe, check and create plugins."),
    "record": LazyCommand(
        "kubesched_lab.record.command:record", "Record the events of a cluster into a trace file, for a replay."
    ),
    "run": LazyCommand("kubesched.run.command:run", "Schedule pods on a cluster, in place of kube-scheduler."),
    "shadow": LazyCommand(
        "kubesched.shadow.command:shadow",
        "Decide every pod beside the cluster's scheduler, without binding, and report where the two differ.",
    ),
    "simulate": LazyCommand(
        "kubesched_lab.simulate.command:simulate_command",
        "Simulate a cluster in virtual time: pods arrive, wait, run and leave, under the real scheduler.",
    ),
    "snapshot": LazyCommand(
        "kubesched_answers.cli.snapshot:snapshot", "Write a cluster to a file, for questions later or elsewhere."
    ),
    "sweep": LazyCommand(
        "kubesched_lab.sweep.command:sweep_command",
        "Simulate many times: configurations x traces x sizes of clusters x seeds, on all cores.",
    ),
    "try": LazyCommand(
        "kubesched_controlplane.up.try_command:try_command",
        "Place pods on simulated nodes, print the node of each pod, and exit.",
    ),
    "up": LazyCommand(
        "kubesched_controlplane.up.command:up", "Run a cluster on this machine: API server, simulated nodes, scheduler."
    ),
    "version": LazyCommand(
        "kubesched.cli.version:version", "Print the versions of kubesched, Kubernetes, Python and the main packages."
    ),
    "whatif": LazyCommand(
        "kubesched_answers.cli.whatif:whatif_command",
        "Try changes to a cluster or its scheduler: which pods move, stay pending or are preempted.",
    ),
    "with-cluster": LazyCommand(
        "kubesched_controlplane.up.with_cluster:with_cluster",
        "Run a command, such as tests, with a cluster on this machine.",
    ),
}


register()


@click.group(cls=CommandGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kubesched", message="%(prog)s %(version)s")
def main() -> None:
    """The Kubernetes scheduler in Python.

    \b
    Start with a cluster in this process, without Docker or a real cluster:
      kubesched try --nodes 3                  # add manifests: where does each pod go?
      kubesched explain pod NAME --from FILE   # why is it pending, and what helps?
      kubesched COMMAND --help                 # with examples

    Tutorial and documentation: https://kubesched.github.io/kubesched/. The examples in help texts are at
    https://github.com/kubesched/kubesched/tree/main/examples.
    """
