"""`kubesched config migrate`: a configuration on standard output, warnings on standard error, and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.policies import a_policy, named, weighted

from kubesched.cli.config import config_group
from kubesched.config.document import dump, parse
from kubesched.config.policy import translate

PLAIN = a_policy(predicates=named("GeneralPredicates"), priorities=weighted(MostRequestedPriority=3))


def run(*args: str, stdin: str | bytes | None = None, command: str = "migrate") -> Result:
    return CliRunner().invoke(config_group, [command, *args], input=stdin)


def failure(*args: str, stdin: str | bytes | None = None) -> list[str]:
    result = run(*args, stdin=stdin)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    return result.stderr.splitlines()


def test_a_policy_becomes_a_configuration_that_can_be_shown(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    policy.write_text(PLAIN)
    result = run(str(policy))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == translate(PLAIN).config_text
    shown = run("-o", "json", "-", stdin=result.stdout, command="show")
    assert shown.exit_code == 0
    assert parse(shown.stdout)["plugins"]["default-scheduler"]["score"] == [{"name": "NodeResourcesFit", "weight": 3}]


def test_it_can_be_written_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    result = run("-", "-o", str(file), stdin=PLAIN)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert file.read_text() == translate(PLAIN).config_text
    assert run("-", "-o", "-", stdin=PLAIN).stdout == file.read_text()


def test_warnings_go_to_standard_error_a_line_each() -> None:
    text = a_policy(alwaysCheckAllPredicates=True)
    result = run("-", stdin=text)
    assert result.exit_code == 0
    assert result.stdout == translate(text).config_text
    assert result.stderr.splitlines() == [f"warning: {warning}" for warning in translate(text).warnings]
    assert len(result.stderr.splitlines()) == 3


def test_a_config_map_as_kubectl_prints_it() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "p"}, "data": {"policy.cfg": PLAIN}}
    assert run("-", stdin=dump(config_map)).stdout == translate(PLAIN).config_text


def test_a_provider_instead_of_a_policy() -> None:
    result = run("--algorithm-provider", "ClusterAutoscalerProvider")
    assert result.exit_code == 0
    assert "type: MostAllocated" in result.stdout
    assert failure("--algorithm-provider", "Mine") == [
        'there is no algorithm provider "Mine"; there are DefaultProvider and ClusterAutoscalerProvider'
    ]


def test_gates_decide_which_newer_plugins_stay() -> None:
    gates = ("--feature-gates", "GenericWorkload=true,GangScheduling=true")
    assert "GangScheduling" in run("-", *gates, stdin=PLAIN).stdout
    assert "GangScheduling" not in run("-", stdin=PLAIN).stdout
    assert "DynamicResources" not in run("-", "--emulated-version", "1.33", stdin=PLAIN).stdout
    assert failure("-", "--feature-gates", "A=true", stdin=PLAIN) == ["unrecognized feature gate: A"]


def test_every_problem_is_a_line_that_names_the_file(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(a_policy(predicates=named("CheckServiceAffinity"), priorities=weighted(EqualPriority=0)))
    first, second = failure(str(policy))
    assert first.startswith(f'{policy}: predicates[0]: "CheckServiceAffinity" has no equivalent; ')
    assert second.startswith(f"{policy}: priorities[0].weight: Invalid value: 0: ")
    assert failure("-", stdin=b"\xff") == ["standard input: not valid UTF-8: byte 0"]


def test_nothing_is_written_where_there_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("as before")
    failure("-", "-o", str(file), stdin="{}")
    assert file.read_text() == "as before"


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "file"
    assert failure(str(missing)) == [f"{missing}: No such file or directory"]
    assert failure("-", "-o", str(missing), stdin=PLAIN) == [
        f"{missing}: No such file or directory; give a writable file"
    ]


@pytest.mark.parametrize("args", [(), ("-", "--algorithm-provider", "DefaultProvider"), ("-", "more"), ("--what",)])
def test_a_wrong_command_line_is_another_exit_code(args: tuple[str, ...]) -> None:
    result = run(*args, stdin=PLAIN)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: " in result.stderr
