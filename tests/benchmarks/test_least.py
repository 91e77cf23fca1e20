"""The least that a pod costs: what docs/internals/speed-of-light.md says of requests."""

from benchmarks.least import counted, main
from click.testing import CliRunner

PODS = 6


def test_a_pod_is_read_three_times_and_costs_two_requests() -> None:
    counts = counted(nodes=3, pods=PODS)
    assert len(counts.read["Pod ADDED"]) == PODS
    assert len(counts.read["Pod MODIFIED"]) == 2 * PODS, "bound, and running"
    assert [len(counts.written[name]) for name in ("POST binding", "POST events")] == [PODS, PODS]
    assert sum(map(len, counts.written.values())) == 2 * PODS
    assert all(size < 300 for size in counts.written["POST binding"])


def test_the_report() -> None:
    done = CliRunner().invoke(main, ["--nodes", "3", "--pods", str(PODS)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "POST binding: 1.00 of " in done.stdout
