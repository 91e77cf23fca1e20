"""The console scripts: standard streams that are full, closed or read by nobody, and Ctrl-C, as real processes."""

import os
import signal
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from tests.support.processes import eventually

from kubesched.cli import COMMANDS
from kubesched.console import INTERRUPTED

KUBESCHED = f"exec {sys.executable} -m kubesched"
NODES = "try --nodes 1"


def shell(line: str) -> tuple[int, str, str]:
    """Return exit code, output and errors of a line in a shell."""
    found = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    return found.returncode, found.stdout, found.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize(
    "command",
    ["config show", "--help", "run --help", NODES],
    ids=["what rich prints", "what click prints", "what print prints", "what a loop prints"],
)
def test_output_that_cannot_be_written_is_one_line(command: str) -> None:
    assert shell(f"{KUBESCHED} {command} >/dev/full") == (
        1,
        "",
        "cannot write the output: No space left on device\n",
    )


@pytest.mark.parametrize("command", ["config show", "run --help"])
def test_a_reader_that_leaves_is_no_error(command: str) -> None:
    assert shell(f"{KUBESCHED} {command} | true") == (0, "", "")


@pytest.mark.parametrize("closed", [">&-", "<&- 2>&-"])
def test_closed_streams_are_as_good_as_none(closed: str) -> None:
    code, out, err = shell(f"{KUBESCHED} {NODES} {closed}")
    assert (code, err) == (0, "")
    assert ("1 node, 0 pods" in out) == (">&-" not in closed.replace("2>&-", ""))


def test_a_cluster_without_standard_output_ends_with_a_signal(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    line = f"{KUBESCHED} up --nodes 1 --kubeconfig {config} >&-"
    process = subprocess.Popen(
        ["sh", "-c", line], stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    )
    try:
        eventually(config.exists, "the cluster serves")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, errors) == (0, "")


def test_an_interrupted_command_says_nothing() -> None:
    waits_for_input = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); import kubesched.console as c; c.kubesched()", "evaluate"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with waits_for_input as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        # an answer shows that it is there
        process.stdout.readline()
        process.stdin.write(b'{"table": "none"}\n')
        process.stdin.flush()
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) in (1, 130)
        assert b"Traceback" not in process.stderr.read()


LOST = """
import gc, os, signal, time
import kubesched.console as console

def interrupted(phase, info):
    gc.callbacks.clear()
    os.kill(os.getpid(), signal.SIGINT)

def command():
    gc.callbacks.append(interrupted)
    gc.collect()
    time.sleep(30)

console.be(lambda: command)
"""


def test_an_interrupt_that_comes_where_python_drops_exceptions_is_not_lost() -> None:
    found = subprocess.run(
        [sys.executable, "-c", LOST],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (found.returncode, found.stdout, found.stderr) == (INTERRUPTED, "", "")


@pytest.mark.parametrize("name", ["kubesched", "kube-scheduler"])
def test_the_scripts_are_installed(name: str) -> None:
    # of kubesched-scheduler, and of the distribution of all
    (reference,) = {script.value for script in entry_points(group="console_scripts", name=name)}
    module, _, attribute = reference.partition(":")
    assert callable(getattr(import_module(module), attribute))


def test_help_imports_no_command() -> None:
    """The list of commands is printed without what commands need."""
    script = (
        "import sys; from kubesched.cli import main; main(['--help'], standalone_mode=False); "
        "print(sorted(name for name in sys.modules if name.startswith(('kubesched.cli.', 'kubesched.config'))))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    light = "['kubesched.cli.command_group', 'kubesched.cli.notes', 'kubesched.cli.shells']"
    assert found.stdout.splitlines()[-1] == light
    for command, lazy in COMMANDS.items():
        module, _, attribute = lazy.reference.partition(":")
        assert getattr(import_module(module), attribute).get_short_help_str(200) == lazy.short_help, command


def test_an_interrupt_at_the_very_end_changes_nothing() -> None:
    code = (
        "import os, signal, kubesched.console as c, kubesched.common.last_resort as last\n"
        "start = last.LastResort.start\n"
        "last.LastResort.start = lambda self: (os.kill(os.getpid(), signal.SIGINT), start(self))\n"
        "c.kubesched()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (done.returncode, done.stderr) == (0, "")
