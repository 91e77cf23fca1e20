"""Shell completion: a script for the shell, and the commands and options that a line may go on with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.programs import needs

from kubesched.cli import COMMANDS, main

# which of the slow modules were imported is told at the end
CODE = """
import atexit, sys
slow = ("numpy", "msgspec", "rich", "aiohttp", "yaml")
atexit.register(lambda: print(*(name for name in slow if name in sys.modules), file=sys.stderr))
from kubesched.console import kubesched
kubesched()
"""


def completed(mode: str, line: str = "") -> tuple[list[str], str]:
    """Return what completion prints, and the slow modules that it imported."""
    words = line.split()
    environment = {
        **os.environ,
        "_KUBESCHED_COMPLETE": mode,
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - (not line.endswith(" "))),
    }
    found = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return found.stdout.splitlines(), found.stderr.strip()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str) -> None:
    lines, slow = completed(f"{shell}_source")
    assert "_KUBESCHED_COMPLETE" in "".join(lines)
    assert slow == ""


def test_commands_are_listed_without_importing_them() -> None:
    lines, slow = completed("bash_complete", "kubesched ")
    assert lines == [f"plain,{name}" for name in sorted(COMMANDS)]
    assert slow == ""


@pytest.mark.parametrize(
    ("line", "goes_on"),
    [
        ("kubesched sn", ["snapshot"]),
        ("kubesched explain ", ["node", "pod", "pods"]),
        ("kubesched explain po", ["pod", "pods"]),
        ("kubesched explain --fro", ["--from"]),
        ("kubesched explain pod --fro", ["--from"]),
        ("kubesched explain pod -o m", ["markdown"]),
        ("kubesched --ver", ["--version"]),
    ],
)
def test_lines_go_on(line: str, goes_on: list[str]) -> None:
    lines, _ = completed("bash_complete", line)
    assert set(goes_on) <= {each.partition(",")[2] for each in lines}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_the_script_of_a_shell(shell: str) -> None:
    ran = CliRunner().invoke(main, ["completion", shell])
    assert ran.exit_code == 0
    assert "_KUBESCHED_COMPLETE" in ran.output
    assert ran.output.strip() == "\n".join(completed(f"{shell}_source")[0]).strip()


def test_an_unknown_shell_is_told() -> None:
    ran = CliRunner().invoke(main, ["completion", "tcsh"])
    assert ran.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in ran.output


# what a shell does when Tab is pressed
IN_A_SHELL = {
    "bash": """
eval "$({kubesched} completion bash)"
COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
function=$(complete -p kubesched | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
"$function" kubesched
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "fish": """
{kubesched} completion fish | source
complete --do-complete {quoted}
""",
}


def asked(shell: str, words: list[str]) -> dict[str, str]:
    """Return what a real shell offers for the last word, with its description if the shell shows one."""
    folder = Path(sys.executable).parent
    line = " ".join(f"'{word}'" for word in words)
    script = IN_A_SHELL[shell].format(kubesched=folder / "kubesched", line=line, quoted=f"'{' '.join(words)}'")
    # nothing of whoever runs this
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    options = ["--norc", "--noprofile"] if shell == "bash" else ["--no-config"]
    ran = subprocess.run(
        [shell, *options, "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.stderr == ""
    return {word: text for word, _, text in (line.partition("\t") for line in ran.stdout.splitlines())}


@pytest.mark.parametrize("shell", [pytest.param(shell, marks=needs(shell)) for shell in IN_A_SHELL])
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["kubesched", "ver"], {"version"}),
        (["kubesched", "explain", "--fro"], {"--from"}),
        (["kubesched", "completion", "ba"], {"bash"}),
    ],
    ids=["a command", "an option", "a value"],
)
def test_a_real_shell_completes(shell: str, words: list[str], offered: set[str]) -> None:
    assert asked(shell, words).keys() == offered


@needs("fish")
@pytest.mark.parametrize(
    ("words", "described"),
    [
        (["kubesched", "ver"], {"version": COMMANDS["version"].short_help}),
        (["kubesched", "up", "--no-"], dict.fromkeys(("--no-controllers", "--no-serve"), "The opposite of --{}.")),
        (
            ["kubesched", "explain", "--no-"],
            {"--no-color": "Print without colours, like NO_COLOR in the environment."},
        ),
    ],
    ids=["with a comma", "of a pair", "of no pair"],
)
def test_fish_shows_whole_descriptions(words: list[str], described: dict[str, str]) -> None:
    expected = {word: text.format(word.removeprefix("--no-")) for word, text in described.items()}
    assert asked("fish", words) == expected


@needs("zsh")
def test_zsh_takes_the_script(tmp_path: Path) -> None:
    script = f'autoload -Uz compinit && compinit -D && eval "$({Path(sys.executable).parent}/kubesched completion zsh)"'
    ran = subprocess.run(
        ["zsh", "-f", "-c", f"{script} && print $_comps[kubesched]"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.stdout, ran.stderr) == ("_kubesched_completion\n", "")
