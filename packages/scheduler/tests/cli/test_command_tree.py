"""All commands, as documents walk over them."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kubesched.cli import COMMANDS, main
from kubesched.cli.command_group import CommandWithSubcommands, summary
from kubesched.cli.command_tree import all_commands, subcommands
from kubesched.errors import KubeschedError
from kubesched_controlplane.up.command import ONCE_IS_TRY

ALL = dict(all_commands(("kubesched",), main))


def test_subcommands_come_below_their_command() -> None:
    whole = CommandWithSubcommands("up", subcommands={"down": click.Command("down")})
    assert [path for path, _ in all_commands(("kubesched", "up"), whole)] == [
        ("kubesched", "up"),
        ("kubesched", "up", "down"),
    ]


def test_all_commands_are_below_kubesched_but_hidden_ones() -> None:
    assert set(subcommands(main)) == set(COMMANDS)
    group = click.Group(commands=[click.Command("shown"), click.Command("secret", hidden=True)])
    assert list(subcommands(group)) == ["shown"]


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_is_described_whole_and_shown_by_an_example(path: tuple[str, ...]) -> None:
    command = ALL[path]
    assert not summary(command).endswith("...")
    if not subcommands(command):
        # kube-scheduler's own help has the form of Go's
        assert path[-1] == "run" or "  kubesched " in (command.help or "")


def test_errors_that_quote_a_server_do_not_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise KubeschedError("the server says \x1b]0;title\x07 and \u202eback\nok: all is well")

    monkeypatch.setattr(main, "get_command", lambda ctx, name: click.Command(name, callback=refused))
    found = CliRunner().invoke(main, ["version"])
    assert (found.exit_code, found.stderr) == (
        1,
        "the server says \ufffd]0;title\ufffd and \ufffdback ok: all is well\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explian"], "Error: No such command 'explian'. Did you mean 'explain'?\n"),
        (["plugins", "lst"], "Error: No such command 'lst'. Did you mean 'list'?\n"),
        (["zzz"], "Error: No such command 'zzz'.\n"),
        (["up", "statsu"], "Error: 'statsu' is neither a command nor a file; did you mean `kubesched up status`?\n"),
        (
            ["whatif", "consolidat"],
            "Error: 'consolidat' is neither a command nor a file; did you mean `kubesched whatif consolidate`?\n",
        ),
    ],
    ids=["a command", "of a group", "nothing like it", "a subcommand in place of a file", "another"],
)
def test_a_command_that_is_mistyped_is_guessed(words: list[str], said: str) -> None:
    found = CliRunner().invoke(main, words)
    assert (found.exit_code, found.stderr.endswith(said)) == (2, True), found.stderr


def test_a_file_may_be_named_almost_like_a_subcommand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "statsu").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    found = CliRunner().invoke(main, ["up", "statsu", "--once", "--nodes", "1"])
    assert (found.exit_code, found.stderr) == (0, f"{ONCE_IS_TRY}\n")


def test_the_help_says_where_to_begin() -> None:
    text = CliRunner().invoke(main, ["--help"]).stdout
    assert "kubesched try --nodes 3" in text
    assert "https://kubesched.github.io/kubesched/" in text
