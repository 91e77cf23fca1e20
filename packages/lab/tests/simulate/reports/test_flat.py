"""Flat rows: a column is the path of a figure, and all runs have the same ones."""

from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.flat import flat_row, flat_table
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival, Trace, TraceEvent


def figures(**allocatable: str) -> Figures:
    events: list[TraceEvent] = [
        ObjectPut(0, a_node("n", cpu="4", allocatable=allocatable)),
        PodArrival(0, a_pod("p", cpu="1", priority=5), 60.0),
    ]
    return simulate(Run(Trace("story", lambda seed: iter(events)), load_config(), Registry(), "packed", 7))


def test_a_column_is_the_path_of_a_figure() -> None:
    row = flat_row(figures())
    assert (row["trace"], row["config"], row["seed"]) == ("story", "packed", 7)
    assert (row["pods.bound"], row["pods.preempted"], row["waitingByPriority.5.pods"]) == (1, 0, 1)
    assert row["resources.cpu.share"] == figures().resources["cpu"].share > 0
    assert "timeline" not in row


def test_runs_with_other_resources_have_gaps() -> None:
    table = flat_table([figures(), figures(**{"example.com/gpu": "2"})])
    assert table["resources.example.com/gpu.offered"] == [None, 2]
    assert table["pods.arrived"] == [1, 1]
