"""`kubesched config show`: three outputs, and no input that ends in a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kubesched.cli.config import MAX_BYTES, config_group
from kubesched.config.document import parse

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def run(*args: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(config_group, ["show", *args], input=stdin)


def failure(*args: str, stdin: bytes | None = None) -> list[str]:
    result = run(*args, stdin=stdin)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    return result.stderr.splitlines()


def test_the_defaults_as_tables() -> None:
    result = run()
    assert result.exit_code == 0
    for expected in (
        "parallelism",
        "Profile default-scheduler",
        "NodeAffinity (2)",
        "queueSort",
        "bindingTimeout: 10m0s",
    ):
        assert expected in result.stdout


def test_yaml_output_is_itself_a_configuration(tmp_path: Path) -> None:
    first = run("-o", "yaml", "-", stdin=(HEAD + "profiles:\n- schedulerName: 'y'\n").encode())
    assert first.exit_code == 0
    file = tmp_path / "config.yaml"
    file.write_text(first.stdout)
    assert run("-o", "yaml", str(file)).stdout == first.stdout
    assert parse(first.stdout)["profiles"][0]["schedulerName"] == "y"


def test_json_output_has_the_configuration_and_the_plugins() -> None:
    report = json.loads(run("-o", "json").stdout)
    assert report["config"]["parallelism"] == 16
    assert report["plugins"]["default-scheduler"]["score"][0] == {"name": "TaintToleration", "weight": 3}


def test_names_are_not_taken_for_markup() -> None:
    result = run("-", stdin=(HEAD + "profiles:\n- schedulerName: '[red]x[/nope]'\n").encode())
    assert result.exit_code == 0
    assert "Profile [red]x[/nope]" in result.stdout


def test_gates_and_versions_apply() -> None:
    gates = ("--feature-gates", "GenericWorkload=true", "--feature-gates", "GangScheduling=true")
    assert "GangScheduling" in run(*gates).stdout
    assert failure("--feature-gates", "A=true,B=true") == [
        "unrecognized feature gate: A",
        "unrecognized feature gate: B",
    ]
    assert failure("--emulated-version", "1.2") == ["emulation version 1.2 is not between [1.33, 1.36.0]"]


def test_every_error_is_a_line() -> None:
    assert failure("-", stdin=(HEAD + "parallelism: 0\nclientConnection: {burst: -1}\n").encode()) == [
        "<stdin>: clientConnection.burst: Invalid value: -1: must be non-negative",
        "<stdin>: parallelism: Invalid value: 0: should be an integer value greater than zero",
    ]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "Object 'kind' is missing"),
        (b"\x00\x01\x02", "yaml: position 0"),
        (b"\xff\xfe\x00", "not valid UTF-8: byte 0"),
        (b"a: &a [*a]", "contains itself"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a":' * 100_000, "nested deeper"),
        (
            b"a0: &a0 [x,x]\n" + b"".join(b"a%d: &a%d [*a%d,*a%d]\n" % (i, i, i - 1, i - 1) for i in range(1, 60)),
            "aliasing",
        ),
        (HEAD.encode() + b"parallelism: " + b"9" * 9999, "parallelism: cannot use string"),
        (HEAD.encode() + b"parallelism: 1e999", "parallelism: cannot use string"),
        (b"x" * (MAX_BYTES + 1), f"larger than {MAX_BYTES} bytes"),
    ],
    ids=["empty", "control", "utf16", "cycle", "deep-yaml", "deep-json", "bomb", "huge", "infinite", "large"],
)
def test_bad_input_is_one_error(content: bytes, part: str, tmp_path: Path) -> None:
    file = tmp_path / "bad"
    file.write_bytes(content)
    for lines in (failure(str(file)), failure("-", stdin=content)):
        assert part in lines[0]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert failure(str(missing)) == [f"{missing}: No such file or directory"]
    assert failure(str(tmp_path)) == [f"{tmp_path}: Is a directory"]


RACKS = """
from dataclasses import dataclass
from kubesched import FilterPlugin


@dataclass(frozen=True)
class RackArgs:
    label: str = "rack"
    most_pods: int = 2


class Racks(FilterPlugin):
    name = "Racks"

    def __init__(self, args: RackArgs) -> None:
        self.args = args

    def filter(self, cycle, pod, node):
        return None
"""


def of_racks(args: str, tmp_path: Path, output: str = "json") -> Any:
    (tmp_path / "racks.py").write_text(RACKS)
    file = tmp_path / "config.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        f"- plugins: {{filter: {{enabled: [{{name: Racks}}]}}}}\n{args}"
    )
    return run("-o", output, "--plugin", str(tmp_path / "racks.py"), str(file))


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        pytest.param("", {"label": "rack", "mostPods": 2}, id="none are written"),
        pytest.param(
            "  pluginConfig: [{name: Racks, args: {mostPods: 5}}]\n", {"label": "rack", "mostPods": 5}, id="one is"
        ),
    ],
)
def test_typed_arguments_of_plugins_are_shown_with_their_defaults(
    args: str, shown: dict[str, Any], tmp_path: Path
) -> None:
    result = of_racks(args, tmp_path)
    written = json.loads(result.stdout)["config"]["profiles"][0]["pluginConfig"]
    assert [entry["args"] for entry in written if entry["name"] == "Racks"] == [shown]


def test_wrong_arguments_of_a_plugin_are_named_by_their_path(tmp_path: Path) -> None:
    result = of_racks("  pluginConfig: [{name: Racks, args: {mostPods: many}}]\n", tmp_path)
    assert result.exit_code == 1
    assert ".args.mostPods: expected `int`, got `str`" in result.stderr


@pytest.mark.parametrize("output", ["table", "yaml", "json"])
def test_secrets_in_the_arguments_of_plugins_are_hidden(output: str, tmp_path: Path) -> None:
    args = "  pluginConfig: [{name: Racks, args: {label: 'http://me:hunter2@load'}}]\n"
    result = of_racks(args, tmp_path, output)
    assert (result.exit_code, "hunter2" in result.stdout) == (0, False)
    assert "[hidden]@load" in result.stdout
