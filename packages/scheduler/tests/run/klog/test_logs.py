"""The log: klog's text and JSON as the reference writes them, levels, streams, secrets, and nobody held up."""

import asyncio
import io
import json
import re
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.support.logs import a_log
from tests.support.world import World, live

from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.values.effects import Bind, Delete
from kubesched.core.loop.scheduler import Scheduler
from kubesched.run.flags import LOGS
from kubesched.run.go_flags import parse_flags
from kubesched.run.instruments import Instruments
from kubesched.run.klog.formats import ERROR, INFO, WARNING, LogEntry, json_line, text_line
from kubesched.run.klog.logs import Logs
from kubesched.run.klog.observer import LogObserver
from kubesched.run.klog.options import LogOptionError, LogOptions, ModuleLevel, parse_vmodule, read_log_options
from kubesched.run.klog.writer import LogWriter
from kubesched.serving.metrics.options import MetricOptions
from kubesched.testing import a_cluster, a_node, a_pod

MOMENT = datetime(2026, 11, 15, 9, 16, 8, 511023)
POD = a_cluster(a_node("n1")).reader.read(a_pod("small"))


def an_entry(message: str, severity: str = INFO, level: int = 0, error: str | None = None, **values: Any) -> LogEntry:
    return LogEntry(severity, level, message, values, error, "scheduling/cycle.py", 481, MOMENT)


UNSCHEDULABLE: dict[str, Any] = {"unschedulable plugins": frozenset({"NodeResourcesFit"})}

# -- formats: the lines of the reference, but for where they come from

TEXTS: dict[str, tuple[LogEntry, str]] = {
    "a pod, a text and numbers": (
        an_entry("Successfully bound pod to node", pod=POD, node="n1", evaluatedNodes=2, feasibleNodes=2),
        'I1115 09:16:08.511023     645 cycle.py:481] "Successfully bound pod to node" pod="default/small" node="n1" '
        "evaluatedNodes=2 feasibleNodes=2",
    ),
    "an error comes before the values": (
        an_entry("dynamic resource plugin failed", ERROR, error="not found", logger="PostFilter", pod=POD),
        'E1115 09:16:08.511023     645 cycle.py:481] "dynamic resource plugin failed" err="not found" '
        'logger="PostFilter" pod="default/small"',
    ),
    "a set is written as Go writes one": (
        an_entry("Pod moved", **UNSCHEDULABLE),
        'I1115 09:16:08.511023     645 cycle.py:481] "Pod moved" unschedulable plugins={"NodeResourcesFit":{}}',
    ),
    "several lines are set off": (
        an_entry("Dump of scheduling queue", summary="activeQ:0", pods="name: a\nname: b\n"),
        'I1115 09:16:08.511023     645 cycle.py:481] "Dump of scheduling queue" summary="activeQ:0" pods=<\n'
        "\tname: a\n\tname: b\n >",
    ),
    "quotes and control characters are escaped": (
        an_entry('say "hi"', WARNING, status='say "no"\t'),
        'W1115 09:16:08.511023     645 cycle.py:481] "say \\"hi\\"" status="say \\"no\\"\\t"',
    ),
    "a node has no namespace; lists and truths are JSON": (
        an_entry("m", node=a_node("n1"), names=["a", "b"], on=True, nothing=None),
        'I1115 09:16:08.511023     645 cycle.py:481] "m" node="n1" names=["a","b"] on=true nothing=null',
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_line_of_text(case: str) -> None:
    entry, line = TEXTS[case]
    assert text_line(entry, 645) == line + "\n"


def test_a_line_of_json() -> None:
    line = json_line(an_entry("Successfully bound pod to node", level=2, pod=POD, node="n1", evaluatedNodes=2), 645)
    assert line.endswith(
        ',"caller":"scheduling/cycle.py:481","msg":"Successfully bound pod to node","v":2,'
        '"pod":{"name":"small","namespace":"default"},"node":"n1","evaluatedNodes":2}\n'
    )
    assert json.loads(line)["ts"] == pytest.approx(MOMENT.timestamp() * 1000)


def test_an_error_in_json_has_no_level_and_ends_with_its_cause() -> None:
    line = json_line(an_entry("it failed", ERROR, error="not found", logger="PostFilter", node=a_node("n1")), 645)
    assert line.endswith(
        '"logger":"PostFilter","caller":"scheduling/cycle.py:481","msg":"it failed","node":{"name":"n1"},'
        '"err":"not found"}\n'
    )


def test_sets_and_strange_values_in_json() -> None:
    line = json_line(an_entry("m", plugins={"B", "A"}, raised=ValueError("no"), path=Path("/x"), lines="a\nb"), 1)
    found = json.loads(line)
    assert found["plugins"] == {"A": {}, "B": {}}
    assert (found["raised"], found["path"], found["lines"]) == ("no", "/x", "a\nb")


# -- levels


class Captured:
    """A log whose lines are kept."""

    def __init__(self, **options: Any) -> None:
        self.lines: list[str] = []
        self.errors: list[str] = []
        self.log = a_log(LogOptions(**options), self.lines.append, self.errors.append, lambda: MOMENT)

    @property
    def messages(self) -> list[str]:
        return [line.split('"')[1] for line in self.lines]


def test_only_what_is_asked_for_is_written() -> None:
    captured = Captured(verbosity=2)
    for level in range(5):
        captured.log.info(f"level {level}", v=level)
    assert captured.messages == ["level 0", "level 1", "level 2"]
    assert (captured.log.enabled(2), captured.log.enabled(3)) == (True, False)


def test_errors_and_warnings_are_written_at_any_level() -> None:
    captured = Captured()
    captured.log.warning("careful")
    captured.log.error("cause", "it failed", pod=POD)
    assert captured.lines[0].startswith("W1115")
    assert captured.errors[0].endswith('"it failed" err="cause" pod="default/small"\n')


def test_a_line_says_where_it_comes_from() -> None:
    captured = Captured(verbosity=1)
    captured.log.info("here", v=1)
    assert re.fullmatch(r'I1115 09:16:08\.511023 {1,6}\d+ test_logs\.py:\d+] "here"\n', captured.lines[0])


def test_modules_have_levels_of_their_own() -> None:
    captured = Captured(verbosity=1, modules=parse_vmodule("other=9,test_l*=3"))
    for level in range(5):
        captured.log.info(f"level {level}", v=level)
    assert captured.messages == ["level 0", "level 1", "level 2", "level 3"]
    assert captured.log.enabled(3)


def test_context_is_said_with_every_message() -> None:
    captured = Captured()
    log = captured.log.with_name("PostFilter").with_name("DefaultPreemption").with_values(pod=POD)
    log.info("tried", node="n1")
    log.info("again", pod="another")
    assert captured.lines[0].endswith('"tried" logger="PostFilter.DefaultPreemption" pod="default/small" node="n1"\n')
    # the last word counts
    assert captured.lines[1].endswith('"again" logger="PostFilter.DefaultPreemption" pod="another"\n')


def test_the_level_can_be_changed_while_it_runs() -> None:
    captured = Captured()
    instruments = Instruments(captured.log, MetricOptions(), FeatureGates({}), "v1.36.4")
    child = captured.log.with_values(a=1)
    instruments.observers.attempt_began(POD)
    assert not captured.lines
    instruments.set_verbosity(3)
    instruments.observers.attempt_began(POD)
    child.info("seen", v=3)
    assert captured.messages == ["Attempting to schedule pod", "seen"]
    instruments.set_verbosity(0)
    instruments.observers.attempt_began(POD)
    assert len(captured.lines) == 2


# -- flags


def options_of(*arguments: str, gates: dict[str, bool] | None = None) -> LogOptions:
    return read_log_options(parse_flags([LOGS], arguments, "kubesched"), FeatureGates(gates or {}))


def test_flags_become_options() -> None:
    assert options_of() == LogOptions()
    assert options_of("-v=4", "--vmodule=a=1,b*=2") == LogOptions(
        verbosity=4, modules=(ModuleLevel("a", 1), ModuleLevel("b*", 2))
    )
    assert options_of("--logging-format=json", "-v", "2") == LogOptions("json", 2)
    split = options_of("--log-text-split-stream", gates={"LoggingAlphaOptions": True})
    assert split.split


BAD: dict[str, tuple[list[str], str]] = {
    "an unknown format": (
        ["--logging-format=xml"],
        '--logging-format: "xml" is not supported; use "text" or "json"',
    ),
    "modules with JSON": (
        ["--logging-format=json", "--vmodule=a=1"],
        '--vmodule: only supported for the text log format; leave it out or use --logging-format="text"',
    ),
    "a module without a level": (
        ["--vmodule=a"],
        "--vmodule: syntax error in 'a': expect comma-separated list of filename=N",
    ),
    "a negative level of a module": (["--vmodule=a=-1"], "--vmodule: negative value for vmodule level in 'a=-1'"),
    "a negative level": (["-v=-1"], "-v: must not be negative"),
    "no time between flushes": (["--log-flush-frequency=0s"], "--log-flush-frequency: must be greater than zero"),
    "alpha options without their gate": (
        ["--log-json-split-stream", "--log-text-info-buffer-size=1Ki"],
        "--log-text-info-buffer-size: needs --feature-gates=LoggingAlphaOptions=true; "
        "--log-json-split-stream: needs --feature-gates=LoggingAlphaOptions=true",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_flag_is_named(case: str) -> None:
    arguments, message = BAD[case]
    with pytest.raises(LogOptionError) as caught:
        options_of(*arguments)
    assert str(caught.value) == message


# -- secrets

SECRET = "s3cr3tvalue0123456789"
TEXTS_WITH_SECRETS = {
    "a bearer token": f"Authorization: Bearer {SECRET}",
    "a JSON web token": "refused eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl0123456789 as expired",
    "a key": f"bad file: -----BEGIN EC PRIVATE KEY-----\n{SECRET}\n-----END EC PRIVATE KEY-----",
    "half a key": f"bad file: -----BEGIN PRIVATE KEY-----\n{SECRET}",
    "a password in an address": f"cannot connect to https://user:{SECRET}@proxy:3128/",
    "a token in a body": f'{{"id_token": "{SECRET}", "expires": 3}}',
    "a token in an address": f"GET https://issuer/?refresh_token={SECRET}&x=1",
    "a field of a kubeconfig": f"client-key-data: {SECRET}",
}


@pytest.mark.parametrize("case", TEXTS_WITH_SECRETS)
@pytest.mark.parametrize("format", ["text", "json"])
def test_secrets_are_never_written(case: str, format: str) -> None:  # noqa: A002
    captured, text = Captured(format=format), TEXTS_WITH_SECRETS[case]
    captured.log.warning(text)
    captured.log.error(RuntimeError(text), "it failed")
    captured.log.error(None, text)
    for line in captured.lines + captured.errors:
        assert SECRET not in line
        assert "c2lnbmF0dXJl" not in line
        assert "[hidden]" in line


def test_other_words_are_left_alone() -> None:
    captured = Captured()
    text = 'secrets "my-token" is forbidden: cannot list resource "secrets"; the token of sa default/x has expired'
    captured.log.warning(text)
    assert json.dumps(text) in captured.lines[0]


# -- writing


class Slow(io.StringIO):
    """Takes nothing until it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()

    def write(self, text: str) -> int:
        self.let.wait(60)
        return super().write(text)


def test_a_stream_that_takes_nothing_holds_nobody_up() -> None:
    stream = Slow()
    writer = LogWriter(stream, most_lines=100)
    began = time.monotonic()
    for number in range(1000):
        writer.put(f"line {number}\n")
    assert time.monotonic() - began < 30
    assert not writer.flush(0.01)
    stream.let.set()
    writer.close(20)
    lines = stream.getvalue().splitlines()
    written = [line for line in lines if line.startswith("line")]
    # in order, and what was left out is said
    assert written == [f"line {number}" for number in range(len(written))]
    left_out = sum(int(line.split()[0]) for line in lines if "log lines were dropped" in line)
    assert len(written) + left_out == 1000
    assert left_out > 0


class Closed(io.StringIO):
    """A pipe whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_stream_that_is_closed_is_no_disaster() -> None:
    writer = LogWriter(Closed())
    writer.put("a\n")
    assert writer.flush(20)
    writer.put("b\n")
    writer.close(20)


def test_streams_are_split_on_request() -> None:
    out, errors = io.StringIO(), io.StringIO()
    logs = Logs(LogOptions(split=True), out, errors)
    logs.log.info("fine")
    logs.log.error("cause", "not fine")
    logs.close()
    assert '"fine"' in out.getvalue()
    assert out.getvalue().count("\n") == errors.getvalue().count("\n") == 1
    assert '"not fine" err="cause"' in errors.getvalue()


def test_otherwise_everything_goes_to_one_stream_in_order() -> None:
    out, errors = io.StringIO(), io.StringIO()
    logs = Logs(LogOptions(), out, errors)
    logs.log.info("first")
    logs.log.error(None, "second")
    logs.log.info("third")
    logs.flush()
    assert re.findall(r'"(\w+)"', errors.getvalue()) == ["first", "second", "third"]
    assert not out.getvalue()
    logs.close()


# -- what is logged of scheduling


def logged(story: Any, verbosity: int, **options: Any) -> list[str]:
    """Return the messages, keys and values of a story, without their headers."""
    captured = Captured(verbosity=verbosity)
    observer: Observer = LogObserver(captured.log)
    live(story, observers=[observer], **options)
    return [line.partition("] ")[2].rstrip("\n") for line in captured.lines + captured.errors]


async def a_pod_is_bound(world: World, scheduler: Scheduler) -> None:
    world.put(a_node("n1", cpu="4"))
    world.put(a_pod("p", cpu="1"))
    await asyncio.sleep(1)


BOUND = '"Successfully bound pod to node" pod="default/p" node="n1" evaluatedNodes=1 feasibleNodes=1'


def test_level_0_says_nothing_of_pods_that_are_fine() -> None:
    assert logged(a_pod_is_bound, 0) == []


def test_level_2_says_what_became_of_a_pod() -> None:
    assert logged(a_pod_is_bound, 2) == [BOUND]


def test_level_3_says_what_happened() -> None:
    assert logged(a_pod_is_bound, 3) == [
        '"Add event for node" node="n1"',
        '"Add event for unscheduled pod" pod="default/p"',
        '"Attempting to schedule pod" pod="default/p"',
        '"Attempting to bind pod to node" pod="default/p" node="n1"',
        BOUND,
        '"Add event for scheduled pod" pod="default/p"',
        '"Delete event for unscheduled pod" pod="default/p"',
    ]


def test_level_5_says_how_a_pod_moved() -> None:
    lines = logged(a_pod_is_bound, 5)
    moved = '"Pod moved to an internal scheduling queue" pod="default/p" event="UnschedulablePodAdd" queue="Active"'
    assert moved in lines
    assert '"About to try and schedule pod" pod="default/p"' in lines


def test_a_pod_that_fits_nowhere_and_one_that_is_held_back() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("big", cpu="40"))
        world.put(a_pod("held", cpu="1", gates=["wait"]))
        await asyncio.sleep(1)

    message = (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are "
        "available: 1 Preemption is not helpful for scheduling."
    )
    assert logged(story, 2) == [f'"Unable to schedule pod; no fit; waiting" pod="default/big" err="{message}"']
    lines = logged(story, 5)
    for line in (
        '"Pod moved to an internal scheduling queue" pod="default/big" event="ScheduleAttemptFailure" '
        'queue="Unschedulable" unschedulable plugins={"NodeResourcesFit":{}}',
        '"Status after running PreEnqueue plugin" pod="default/held" plugin="SchedulingGates" '
        'status="waiting for scheduling gates: [wait]"',
        '"Pod moved to an internal scheduling queue, because the pod is gated" pod="default/held" '
        'event="UnschedulablePodAdd" queue="Unschedulable"',
        '"Status after running PostFilter plugins for pod" pod="default/big" status="no new claims to deallocate, '
        'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."',
    ):
        assert line in lines


def test_a_cluster_without_nodes_is_said_to_be_one() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(0.5)
        world.delete("Pod", "default/p")

    assert logged(story, 2) == [
        '"Unable to schedule pod; no nodes are registered to the cluster; waiting" pod="default/p"'
    ]


def test_a_preemption_is_told_step_by_step() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", node="n1"))
        refusals = iter(["busy"])
        world.refuse = lambda effect: next(refusals, "") if isinstance(effect, Delete) else ""
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(10)

    both = 'preemptor="default/high" victim="default/low" node="n1"'
    lines = [line for line in logged(story, 2) if "Unable" not in line]
    began = '"Start the preemption asynchronously" preemptor="default/high" node="n1" numVictims=1 numVictimsToDelete=1'
    ended = '"Async Preemption finished completely" preemptor="default/high" node="n1" result='
    assert lines == [
        began,
        f'{ended}"error"',
        began,
        f'"Preemptor Pod preempted victim Pod" {both}',
        f'{ended}"success"',
        '"Successfully bound pod to node" pod="default/high" node="n1" evaluatedNodes=1 feasibleNodes=1',
        # errors are kept apart here
        '"Error occurred during async preemption" err="busy" preemptor="default/high" node="n1"',
    ]


def test_a_binding_that_fails_is_an_error() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        refusals = iter(["the webhook is down"])
        world.refuse = lambda effect: next(refusals, "") if isinstance(effect, Bind) else ""
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(10)

    assert logged(story, 1) == [
        '"Failed to bind pod" pod="default/p"',
        '"Error scheduling pod; retrying" err="running Bind plugin \\"DefaultBinder\\": the webhook is down" '
        'pod="default/p"',
    ]


class Hearing(LogObserver):
    """Is told of everything, whatever the level."""

    def hears(self, hook: str) -> bool:
        return True


@pytest.mark.parametrize("verbosity", range(7))
def test_nothing_is_missed_by_not_listening(verbosity: int) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", node="n1"))
        refusals = iter(["busy"])
        world.refuse = lambda effect: next(refusals, "") if isinstance(effect, Bind) else ""
        world.put(a_pod("high", cpu="1", priority=10))
        world.put(a_pod("held", cpu="1", gates=["wait"]))
        world.put(a_pod("unbound", volumes=["nope"]))
        await asyncio.sleep(10)
        world.put(a_pod("going", cpu="9", terminating=True))
        await asyncio.sleep(1)
        world.delete("Pod", "default/going")

    captured = [Captured(verbosity=verbosity), Captured(verbosity=verbosity)]
    live(story, observers=[LogObserver(captured[0].log), Hearing(captured[1].log)])
    assert captured[0].lines == captured[1].lines
    assert captured[0].errors == captured[1].errors
    assert verbosity < 2 or captured[0].lines
