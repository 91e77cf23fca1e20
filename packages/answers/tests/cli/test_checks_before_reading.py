"""Commands check their options before they read a cluster: a wrong option is the problem, not a missing file."""

import pytest
from click.testing import CliRunner

from kubesched.cli import main

WRONG = {
    "capacity, two targets": (
        ["capacity", "-f", "x", "--until", "5", "--own-replicas"],
        "--until and --own-replicas exclude each other: give one of them",
    ),
    "capacity, a target without workloads": (["capacity", "--until", "5"], "no workloads: add -f FILE"),
    "capacity, weights that are no numbers": (
        ["capacity", "-f", "x", "--weights", "a"],
        "'a': expected whole numbers separated by commas, or 'own'",
    ),
    "snapshot, a key without codes": (["snapshot", "-o", "x.gz", "--key", "k"], "--key needs --anonymise"),
    "explain, quiet JSON": (["explain", "-q", "-o", "json"], "it cannot be combined with -o json"),
    "explain pod, no pod": (["explain", "pod"], "no pod: give its name, or a manifest with -f"),
    "explain pod, a token for no scheduler": (
        ["explain", "pod", "web", "--scheduler-token-file", "t"],
        "need --scheduler URL",
    ),
    "explain node, quiet JSON": (["explain", "node", "n", "-o", "json", "-q"], "it cannot be combined with -o json"),
    "explain pods, quiet YAML": (["explain", "pods", "-q", "-o", "yaml"], "it cannot be combined with -o yaml"),
    "explain deploy, quiet HTML": (["explain", "deploy/web", "-q", "-o", "html"], "cannot be combined with -o html"),
    "whatif, three configurations": (
        ["whatif", *("--config", "x") * 3],
        "give --config once, or twice to compare two configurations",
    ),
    "whatif, quiet JSON": (["whatif", "--drain", "n", "-q", "-o", "json"], "it cannot be combined with -o json"),
    "whatif consolidate, quiet JSON": (["whatif", "consolidate", "-q", "-o", "json"], "cannot be combined with"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_option_is_reported_before_the_cluster_is_read(case: str) -> None:
    words, expected = WRONG[case]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(main, [*words, "--from", "missing.yaml"])
    assert result.exit_code == 2, result.output
    assert expected in result.stderr.splitlines()[-1]
    assert "missing.yaml" not in result.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["--weight", "NodeResourcesFit=x"], "weight NodeResourcesFit=x: write PLUGIN=W", id="weight"),
        pytest.param(["--scale", "rs/web"], "--scale rs/web: write KIND/NAME=N, such as deploy/web=9", id="scale"),
        pytest.param(["--add-nodes", "n1"], "--add-nodes n1: write N=LIKE, such as 3=node-1", id="add-nodes"),
        pytest.param(["--taint", "n1", "k=v"], "taint k=v: write it as key=value:Effect", id="taint"),
    ],
)
def test_a_wrong_change_is_reported_before_the_cluster_is_read(words: list[str], expected: str) -> None:
    result = CliRunner().invoke(main, ["whatif", *words, "--from", "missing.yaml"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert expected in result.stderr
