"""The figures of the benchmark of a living cluster, and how they are printed."""

from pathlib import Path

import msgspec
import pytest
from benchmarks.living import report
from benchmarks.living.__main__ import named, parser, place_of, stretches_of
from benchmarks.living.errors import LivingError
from benchmarks.living.figures import EngineCounts, Row, Spread, growth, percentile, spread_of
from benchmarks.living.processes import words_of

replace = msgspec.structs.replace
ROW = Row(
    subject="kubesched run",
    rate=50.0,
    seconds=10.0,
    created=505,
    bound=500,
    cpu_seconds=1.0,
    events_read=4000,
    events_written=510,
    from_creation=Spread(4.0, 20.0, 30.0, 40.0),
    from_watch=Spread(2.0, 10.0, 15.0, 20.0),
    memory_begin_mib=90.0,
    memory_end_mib=100.0,
    memory_peak_mib=101.0,
    own_cpu_seconds=0.5,
    machine_cpu_seconds=15.0,
)


def test_percentiles_are_values_that_were_measured() -> None:
    ordered = [float(value) for value in range(1, 1001)]
    assert [percentile(ordered, share) for share in (0.0, 0.5, 0.99, 0.999, 1.0)] == [1, 500, 990, 999, 1000]


def test_a_spread_is_in_milliseconds() -> None:
    assert spread_of([0.004, 0.001, 0.002]) == Spread(2.0, 4.0, 4.0, 4.0)
    assert spread_of([]) is None


def test_growth_compares_the_last_quarter_with_the_first() -> None:
    assert growth([100.0, 100.0, 500.0, 0.0, 300.0, 0.0, 110.0, 130.0]) == pytest.approx(20.0)
    assert growth([1.0, 2.0, 3.0]) is None


def test_processor_time_is_for_each_pod_and_for_each_event() -> None:
    assert ROW.cpu_ms_a_pod == pytest.approx(2.0)
    assert ROW.cpu_us_an_event == pytest.approx(250.0)
    assert ROW.cpu_share == pytest.approx(0.1)


def test_an_idle_cluster_has_no_processor_time_for_each_pod() -> None:
    idle = replace(ROW, rate=0.0, bound=1)
    assert idle.cpu_ms_a_pod is None
    assert report.line(idle).split()[5] == "-"


def test_a_line_has_a_text_under_each_column() -> None:
    assert len(report.line(ROW)) == len(report.header())
    texts = report.line(ROW).split()[2:]
    assert texts[:6] == ["50", "505", "500", "2.00", "10.0", "400"]
    assert texts[6:13] == ["250", "4.0", "20.0", "30.0", "40.0", "2.0", "10.0"]
    assert texts[13:] == ["90", "100", "101", "510", "5", "150"]


def test_notes_say_what_went_wrong() -> None:
    assert list(report.notes(ROW)) == []
    bad = replace(ROW, unbound=3, most_waiting=900, memory_growth=12.5)
    text = "\n".join(report.notes(bad))
    for words in ("+12.5 %", "up to 900 requests waited", "3 pods were never bound"):
        assert words in text


def test_notes_of_the_engine_are_for_each_pod_and_each_report() -> None:
    counts = EngineCounts(
        bound=10,
        failed_attempts=5,
        status_reports=40,
        node_reports=1,
        log_records=120,
        columns_evaluated=20,
        columns_caught_up=30,
        pods_read=60,
        digests=10,
        bytes_a_pod=4200.0,
    )
    (text,) = report.notes(replace(ROW, engine=counts))
    for words in ("12.0 log records", "2.0 columns evaluated", "0.5 failed", "0.25 digests", "4200 bytes"):
        assert words in text


def test_ratios_divide_the_first_subject_by_the_last() -> None:
    other = replace(ROW, subject="other", cpu_seconds=2.0, from_creation=None)
    (text,) = report.ratios([ROW], [other])
    assert text == "kubesched run / other at 50 pods/s: CPU a pod 0.50x  CPU 0.50x  memory 1.00x"


# -- options


def test_subjects_are_named_by_their_programs() -> None:
    command = "/opt/bin/kubesched run --config {config} --v=2"
    assert named(0, command, 1) == "kubesched run"
    assert named(1, command, 2) == "2 kubesched run"


def test_values_in_commands_are_single_words() -> None:
    assert words_of("run 'a b' --config={config}", config="/tmp/x y") == ["run", "a b", "--config=/tmp/x y"]
    with pytest.raises(LivingError, match="is no command"):
        words_of("run 'a")


def test_virtual_hours_are_for_the_engine_alone() -> None:
    asked = parser().parse_args(["--virtual-hours", "2", "--rate", "5", "--seconds", "30"])
    assert stretches_of(asked, virtual=True).seconds == 7200
    assert stretches_of(asked, virtual=True).memory_every == 360
    assert stretches_of(asked).seconds == 30
    assert stretches_of(asked).rates == (5.0,)


@pytest.mark.parametrize("flags", [["--rates", "5,x"], ["--rates", "-1"], ["--seconds", "0"]])
def test_rates_and_durations_are_checked(flags: list[str]) -> None:
    asked = parser().parse_args([f"{flags[0]}={flags[1]}"])
    with pytest.raises(LivingError):
        stretches_of(asked)


def test_a_control_plane_may_write_the_kubeconfigs() -> None:
    folder, given = Path("/tmp/folder"), Path("/tmp/admin")
    both = place_of(folder, None, None, "x {kubeconfig} {scheduler_kubeconfig}")
    assert (both.kubeconfig, both.scheduler_kubeconfig) == (folder / "kubeconfig", folder / "scheduler-kubeconfig")
    assert place_of(folder, given, None, "").scheduler_kubeconfig == given
