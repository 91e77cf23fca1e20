"""`kubesched run`, also installed as `kube-scheduler`: the scheduler as an operator runs it.

In: the flags of kube-scheduler. Out: its exit codes, its log, its messages. click does not parse the flags, since Go
programs accept other forms.
"""

import signal
import sys
from collections.abc import Sequence

import click

from kubesched.cli.event_loop import run_loop
from kubesched.cli.plugin_options import load_plugins
from kubesched.common.garbage_collection import collect_seldom
from kubesched.errors import KubeschedError
from kubesched.run.flags import GROUPS
from kubesched.run.go_flags import FlagError, ParsedFlags, described_flag, help_text, parse_flags
from kubesched.run.versions import version_text

PROGRAM = "kubesched run"
PURPOSE = """\
The Kubernetes scheduler, in Python: a drop-in for kube-scheduler v1.36.

It watches pods without a node, finds the nodes that fit, ranks them, and binds each pod to the best one. It takes the
flags and the configuration file of kube-scheduler; replicas elect a leader.

  kubesched run --kubeconfig ~/.kube/config --leader-elect=false
  kubesched run --config scheduler.yaml -v 2"""


class RunCommand(click.Command):
    """`kubesched run` among click's commands, with the flags and the help of a Go program."""

    def get_help(self, ctx: click.Context) -> str:
        """Return the text of --help."""
        return help_text(ctx.info_name or PROGRAM, PURPOSE, GROUPS).rstrip()

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the usage line."""
        return ["[flags]"]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description of the command."""
        formatter.write_text(PURPOSE)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags, group by group."""
        for group in GROUPS:
            with formatter.section(f"{group.name} flags"):
                formatter.write_dl([described_flag(flag) for flag in group.flags])


@click.command(
    "run",
    cls=RunCommand,
    context_settings={"ignore_unknown_options": True, "help_option_names": [], "allow_interspersed_args": False},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(arguments: tuple[str, ...]) -> None:
    """Schedule pods on a cluster, in place of kube-scheduler."""
    sys.exit(main(arguments, PROGRAM))


def kube_scheduler() -> None:
    """Run `kube-scheduler`."""
    sys.exit(main(sys.argv[1:], "kube-scheduler"))


def main(arguments: Sequence[str], program: str) -> int:
    """Run the scheduler; return the exit code."""
    try:
        flags = parse_flags(GROUPS, arguments, program)
    except FlagError as error:
        print(f"Error: {error}\nSee '{program} --help' for usage.", file=sys.stderr)
        return 1
    if flags["help"]:
        print(help_text(program, PURPOSE, GROUPS), end="")
        return 0
    if (version := version_text(flags["version"])) is not None:
        print(version)
        return 0
    try:
        return _run(flags)
    except KubeschedError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1


def _run(flags: ParsedFlags) -> int:
    if flags["reload"]:
        # ignored until the loop handles it; the file watcher detects earlier changes
        signal.signal(signal.SIGHUP, lambda number, frame: None)
    collect_seldom()
    # slow imports, which help and errors do not need
    from kubesched.run.klog.logs import Logs
    from kubesched.run.klog.options import read_log_options
    from kubesched.run.options import gates_of, read_options, write_config
    from kubesched.run.process import SchedulerProcess

    logs = Logs(read_log_options(flags, gates_of(flags)))
    try:
        options = read_options(flags, load_plugins(flags["plugin"]), logs.log.warning)

        async def process() -> int:
            running = SchedulerProcess(options, logs)
            if flags["write-config-to"]:
                # an invalid configuration is an error here, too
                write_config(flags["write-config-to"], options.config)
                logs.log.info("Wrote configuration", file=flags["write-config-to"])
                return 0
            return await running.run()

        return run_loop(process())
    finally:
        logs.close()
