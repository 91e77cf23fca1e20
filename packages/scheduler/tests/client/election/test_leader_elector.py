"""Leader election in virtual time: candidates and a lease on a server that is slow or gone, and clocks that lie."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from kubesched.client.election.leader_elector import ElectionObserver, ElectionSettings, LeaderElector, settings_from
from kubesched.client.election.leases import Candidacy, Record, Wait, record_of, spec_of
from kubesched.client.rest import Refused, Unreachable
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.golang import Duration
from kubesched.config.types import LeaderElection
from kubesched.errors import KubeschedError

LEASE, RENEW, RETRY = 15.0, 10.0, 2.0
START = datetime(2026, 1, 1, tzinfo=UTC)


class Server:
    """Has the lease, and counts its versions."""

    def __init__(self, record: Record | None = None) -> None:
        self.record = record
        self.version = 1 if record else 0
        self.seconds = 0.0
        self.gone = False
        # whether what is written lands though the answer does not arrive
        self.loses_answers = False
        self.writes: list[tuple[float, Record]] = []

    def put(self, record: Record | None) -> None:
        self.record = record
        self.version += 1
        if record is not None:
            self.writes.append((asyncio.get_running_loop().time(), record))


class FakeLock:
    """The lease as one client sees it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.version = 0
        self.requests: list[tuple[float, str]] = []
        # a network of its own that may be cut
        self.cut = False

    async def read(self) -> Record | None:
        await self._travel("read")
        self.version = self.server.version
        return self.server.record

    async def create(self, record: Record) -> None:
        await self._travel("create")
        if self.server.record is not None:
            raise Refused(409, "AlreadyExists", "it exists")
        await self._land(record)

    async def update(self, record: Record) -> None:
        await self._travel("update")
        if self.server.record is None:
            raise Refused(404, "NotFound", "it is gone")
        if self.version != self.server.version:
            raise Refused(409, "Conflict", "it was changed")
        await self._land(record)

    async def _land(self, record: Record) -> None:
        self.server.put(record)
        if self.server.loses_answers:
            raise Unreachable("no answer", maybe_done=True)
        self.version = self.server.version
        await asyncio.sleep(self.server.seconds / 2)

    async def _travel(self, verb: str) -> None:
        self.requests.append((asyncio.get_running_loop().time(), verb))
        if self.server.gone or self.cut:
            raise Unreachable("cannot connect", maybe_done=False)
        await asyncio.sleep(self.server.seconds / 2)


class Watcher(ElectionObserver):
    """Writes down what it is told, and when."""

    def __init__(self) -> None:
        self.told: list[tuple[float, str]] = []
        self.left: list[float] = []

    def became_leader(self) -> None:
        self._tell("leads")

    def renewed(self, seconds_left: float) -> None:
        self.left.append(seconds_left)

    def new_leader(self, identity: str) -> None:
        self._tell(f"sees {identity}")

    def slow_path(self) -> None:
        self._tell("reads first")

    def _tell(self, words: str) -> None:
        self.told.append((asyncio.get_running_loop().time(), words))

    def when(self, words: str) -> list[float]:
        return [moment for moment, told in self.told if told == words]


class Scheduler:
    """One candidate."""

    def __init__(self, name: str, server: Server, *, skew: timedelta = timedelta(), coordinated: bool = False) -> None:
        loop = asyncio.get_running_loop()
        self.began = loop.time()
        self.lock = FakeLock(server)
        self.watcher = Watcher()
        self.notes: list[str] = []
        self.events: list[str] = []
        self.stop = asyncio.Event()
        self.skew = skew
        self.lost: tuple[float, str] | None = None
        self.elector = LeaderElector(
            ElectionSettings(name, "kube-system", "kube-scheduler", LEASE, RENEW, RETRY, coordinated),
            self.lock,
            self.watcher,
            loop.time,
            wall=self.wall,
            random=Random(name),
            note=self.notes.append,
            record_event=self.events.append,
        )
        self.task = asyncio.ensure_future(self._run())

    def wall(self) -> datetime:
        return START + timedelta(seconds=asyncio.get_running_loop().time() - self.began) + self.skew

    @property
    def leads(self) -> bool:
        return bool(self.watcher.when("leads")) and self.lost is None and not self.task.done()

    async def _run(self) -> None:
        if await self.elector.acquire(self.stop):
            reason = await self.elector.renew(self.stop)
            if reason:
                self.lost = (asyncio.get_running_loop().time(), reason)
                return
        await self.elector.release()

    async def end(self) -> None:
        self.stop.set()
        await self.task

    async def die(self) -> None:
        """End without a word."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def now() -> float:
    return asyncio.get_running_loop().time()


def story(play: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    def test() -> None:
        async def run() -> None:
            await play()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        run_in_virtual_time(run())

    test.__name__ = play.__name__
    test.__doc__ = play.__doc__
    return test


# -- one candidate


@story
async def test_a_lease_that_does_not_exist_is_created() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(0.1)
    assert one.leads
    assert server.writes[0][1] == Record("one", 15, START, START, 0)
    assert one.watcher.told == [(one.began, "sees one"), (one.began, "leads")]
    assert one.events == ["became leader"]
    assert one.notes == [
        "Attempting to acquire leader lease kube-system/kube-scheduler...",
        "Successfully acquired lease kube-system/kube-scheduler",
    ]


@story
async def test_a_leader_renews_without_reading() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(9.5)
    verbs = [verb for _, verb in one.lock.requests]
    assert verbs == ["read", "create", "update", "update", "update", "update", "update"]
    assert [moment - one.began for moment, _ in server.writes] == [0, 0, 2, 4, 6, 8]
    record = server.writes[-1][1]
    assert (record.acquired, record.renewed) == (START, START + timedelta(seconds=8))
    assert one.watcher.left == [LEASE] * 6
    assert one.watcher.when("reads first") == []


@story
async def test_a_lease_is_given_up_at_the_end() -> None:
    server = Server(Record("", 1, START, START, 6))
    one = Scheduler("one", server)
    await asyncio.sleep(1)
    await one.end()
    moment = START + timedelta(seconds=1)
    assert server.record == Record("", 1, moment, moment, 7)
    assert one.events == ["became leader", "stopped leading"]
    assert one.lost is None
    assert not one.elector.candidacy.leading


@story
async def test_a_candidate_that_never_led_ends_without_a_trace() -> None:
    server = Server(Record("other", 15, START, START, 0))
    one = Scheduler("one", server)
    await asyncio.sleep(1)
    await one.end()
    assert server.writes == []
    assert one.events == []


@story
async def test_what_was_won_in_the_last_moment_is_given_up() -> None:
    server = Server()
    server.seconds = 0.5
    one = Scheduler("one", server)
    await asyncio.sleep(0.6)
    await one.end()
    assert server.writes[0][1].holder == "one"
    assert server.record is not None
    assert server.record.holder == ""
    assert one.watcher.when("leads") == []


@story
async def test_a_candidate_that_is_told_to_end_does_not_wait_for_a_server_that_hangs() -> None:
    server = Server()
    server.seconds = 1000.0
    one = Scheduler("one", server)
    await asyncio.sleep(5)
    began = now()
    await one.end()
    assert now() - began == pytest.approx(1.0)


# -- losing


@story
async def test_a_leader_without_a_server_stops_at_the_deadline() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    server.gone = True
    await asyncio.wait_for(one.task, 60)
    assert one.lost is not None
    moment, reason = one.lost
    # the last renewal was at 4, the next one due at 6
    assert moment - one.began == 6 + RENEW
    assert reason == "it was not renewed within 10 s"
    assert [when - one.began for when, verb in one.lock.requests if when - one.began > 5 and verb == "read"] == [
        6, 8, 10, 12, 14,
    ]  # fmt: skip
    assert one.notes[-1] == "Failed to renew lease kube-system/kube-scheduler: it was not renewed within 10 s"
    assert one.events == ["became leader"]


@story
async def test_a_server_that_comes_back_in_time_changes_nothing() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    server.gone = True
    await asyncio.sleep(9)
    server.gone = False
    await asyncio.sleep(30)
    assert one.leads
    assert server.record is not None
    assert server.record.transitions == 0


@story
async def test_a_server_that_hangs_is_no_better_than_none() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    server.seconds = 1000.0
    await asyncio.wait_for(one.task, 60)
    assert one.lost is not None
    assert one.lost[0] - one.began == 6 + RENEW


@story
async def test_slow_answers_do_not_stretch_a_lease() -> None:
    """A renewal counts from when it was sent: others may have seen it long before its answer arrives."""
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(3.9)
    server.seconds = 9.0
    await asyncio.sleep(2)
    # the renewal that was sent at 4 is answered at 13; the next one is sent at 15
    server.gone = False
    await asyncio.sleep(8)
    server.gone = True
    await asyncio.wait_for(one.task, 60)
    assert one.lost is not None
    assert one.lost[0] - one.began == 4 + LEASE


@story
async def test_a_leader_that_sees_another_one_stops_at_once() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    server.put(Record("two", 15, START, START, 1))
    await asyncio.wait_for(one.task, 60)
    assert one.lost is not None
    moment, reason = one.lost
    assert (moment - one.began, reason) == (6, "the lease is held by two")
    assert server.record is not None
    assert server.record.holder == "two", "it is left alone"


@story
async def test_the_lease_of_another_one_is_not_given_up() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    server.put(Record("two", 15, START, START, 1))
    await one.end()
    assert server.record is not None
    assert server.record.holder == "two"


@story
async def test_a_lease_that_somebody_deleted_is_created_again() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    server.put(None)
    await asyncio.sleep(10)
    assert one.leads
    assert server.record is not None
    assert server.record.holder == "one"


@story
async def test_a_lease_that_somebody_touched_is_read_first() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    server.version += 1
    await asyncio.sleep(3)
    assert one.leads
    assert [moment - one.began for moment in one.watcher.when("reads first")] == [6]
    assert server.record is not None
    assert server.record.transitions == 0


@story
async def test_a_lost_answer_does_not_cost_the_lease() -> None:
    server = Server()
    server.loses_answers = True
    one = Scheduler("one", server)
    await asyncio.sleep(1)
    assert not one.leads
    server.loses_answers = False
    await asyncio.sleep(5)
    assert one.leads
    assert server.record is not None
    assert (server.record.holder, server.record.transitions) == ("one", 0)


@story
async def test_a_candidate_that_led_without_knowing_goes_on_as_a_candidate() -> None:
    server = Server()
    server.loses_answers = True
    one = Scheduler("one", server)
    await asyncio.sleep(5)
    assert one.elector.candidacy.leading
    assert not one.leads
    server.put(Record("two", 15, START, START, 1))
    await asyncio.sleep(5)
    assert one.lost is None
    server.loses_answers = False
    await asyncio.sleep(20)
    assert one.leads


# -- two candidates


@story
async def test_only_one_of_two_leads() -> None:
    server = Server()
    one, two = Scheduler("one", server), Scheduler("two", server)
    await asyncio.sleep(300)
    assert [candidate.leads for candidate in (one, two)] == [True, False]
    assert two.watcher.told[0][1] == "sees one"
    assert {record.holder for _, record in server.writes} == {"one"}


@story
async def test_candidates_ask_at_times_of_their_own() -> None:
    server = Server(Record("dead", 1000, START, START, 0))
    one = Scheduler("one", server)
    await asyncio.sleep(500)
    moments = [moment for moment, _ in one.lock.requests]
    waits = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert min(waits) >= RETRY
    assert max(waits) <= RETRY * 2.2
    assert max(waits) - min(waits) > RETRY


@story
async def test_a_leader_that_dies_is_succeeded_when_its_lease_has_run_out() -> None:
    server = Server()
    one, two = Scheduler("one", server), Scheduler("two", server)
    await asyncio.sleep(21)
    await one.die()
    died = server.writes[-1][0]
    await asyncio.sleep(60)
    assert two.leads
    waited = two.watcher.when("leads")[0] - died
    assert LEASE <= waited <= LEASE + 2 * 2.2 * RETRY
    assert server.record is not None
    assert server.record.transitions == 1
    assert server.record.acquired == START + timedelta(seconds=two.watcher.when("leads")[0] - two.began)


@story
async def test_a_leader_that_ends_is_succeeded_soon() -> None:
    server = Server()
    one, two = Scheduler("one", server), Scheduler("two", server)
    await asyncio.sleep(21)
    await one.end()
    ended = now()
    await asyncio.sleep(10)
    assert two.leads
    assert two.watcher.when("leads")[0] - ended <= 2.2 * RETRY
    assert [words for _, words in two.watcher.told] == ["sees one", "sees two", "leads"]


@story
async def test_at_no_time_do_two_lead_when_the_leaders_network_is_cut() -> None:
    for seconds in (0.0, 1.0, 3.0):
        server = Server()
        server.seconds = seconds
        one = Scheduler("one", server)
        await asyncio.sleep(10)
        two = Scheduler("two", server)
        await asyncio.sleep(20.0 + seconds / 3)
        one.lock.cut = True
        both = 0
        for _ in range(600):
            await asyncio.sleep(0.1)
            both += one.leads and two.leads
        assert both == 0, seconds
        assert two.leads
        assert one.lost is not None
        await two.die()


@story
async def test_both_try_to_take_over_and_one_of_them_does() -> None:
    server = Server(Record("dead", 3, START, START, 4))
    server.seconds = 3.0
    several = [Scheduler(f"c{number}", server) for number in range(5)]
    await asyncio.sleep(60)
    assert sum(candidate.leads for candidate in several) == 1
    assert server.record is not None
    assert server.record.transitions == 5


@story
async def test_clocks_that_jump_or_differ_do_not_matter() -> None:
    server = Server()
    one = Scheduler("one", server, skew=timedelta(days=-400))
    await asyncio.sleep(1)
    two = Scheduler("two", server, skew=timedelta(days=400))
    for days in (3000, -3000, 0):
        await asyncio.sleep(20)
        one.skew = timedelta(days=days)
    assert one.leads
    assert not two.leads
    assert one.lost is None


@story
async def test_a_lease_from_the_past_is_waited_for_since_clocks_may_differ() -> None:
    server = Server(Record("dead", 15, START - timedelta(days=9), START - timedelta(days=9), 2))
    one = Scheduler("one", server)
    await asyncio.sleep(LEASE - 0.1)
    assert not one.leads
    await asyncio.sleep(2.2 * RETRY + 0.2)
    assert one.leads


# -- the watchdog


@story
async def test_a_leader_that_does_not_notice_is_unhealthy_after_a_while() -> None:
    server = Server()
    one = Scheduler("one", server)
    await asyncio.sleep(4.5)
    assert one.elector.check() is None
    # as if its thread were stuck
    await one.die()
    await asyncio.sleep(4 + LEASE + 20 - 4.5)
    assert one.elector.check() is None
    await asyncio.sleep(0.1)
    assert one.elector.check() == "failed election to renew leadership on lease kube-scheduler"


@story
async def test_a_candidate_in_waiting_is_healthy() -> None:
    server = Server(Record("other", 10_000, START, START, 0))
    one = Scheduler("one", server)
    await asyncio.sleep(1000)
    assert one.elector.check() is None


# -- coordinated: the server chooses

GIVEN = Record("one", 5, None, START, 3, "OldestEmulationVersion")


@story
async def test_a_coordinated_candidate_takes_only_what_it_is_given() -> None:
    server = Server()
    one = Scheduler("one", server, coordinated=True)
    await asyncio.sleep(20)
    assert server.writes == [], "it does not create the lease"
    server.put(GIVEN)
    await asyncio.sleep(5)
    assert one.leads
    record = server.writes[-1][1]
    assert (record.holder, record.duration_seconds, record.transitions) == ("one", 15, 3)
    assert (record.strategy, record.acquired) == ("OldestEmulationVersion", None)
    await one.end()
    assert server.record is not None
    assert server.record.holder == ""


@story
async def test_a_coordinated_candidate_leaves_a_lease_that_has_run_out() -> None:
    server = Server(Record("dead", 15, START, START, 3, "OldestEmulationVersion"))
    one = Scheduler("one", server, coordinated=True)
    await asyncio.sleep(100)
    assert server.writes == []
    assert not one.leads


@story
async def test_a_coordinated_leader_whose_term_ends_stops_at_the_deadline() -> None:
    server = Server(GIVEN)
    one = Scheduler("one", server, coordinated=True)
    await asyncio.sleep(4.5)
    assert server.record is not None
    server.put(Record(**{**_fields(server.record), "preferred_holder": "two"}))
    await asyncio.wait_for(one.task, 60)
    assert one.lost is not None
    assert one.lost[0] - one.began == 6 + RENEW
    assert server.record.preferred_holder == "two", "it is left as it is"


@story
async def test_a_coordinated_leader_that_is_replaced_stops_at_once() -> None:
    server = Server(GIVEN)
    one = Scheduler("one", server, coordinated=True)
    await asyncio.sleep(4.5)
    server.put(Record("two", 15, START, START, 4, "OldestEmulationVersion"))
    await asyncio.wait_for(one.task, 60)
    assert one.lost is not None
    assert one.lost[0] - one.began == 6


def _fields(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}


# -- decisions, one at a time

OTHERS = Record("other", 15, START, START, 3)
MINE = Record("me", 15, START, START, 3)


@pytest.mark.parametrize(
    ("sentence", "seen", "age", "current", "expected"),
    [
        ("there is no lease", None, 0, None, Record("me", 15, START, START, 0)),
        ("nobody holds it", None, 0, Record("", 1, START, START, 3), Record("me", 15, START, START, 4)),
        ("another one holds it", None, 0, OTHERS, Wait("held by other")),
        ("another one has held it for long", OTHERS, 14.9, OTHERS, Wait("held by other")),
        ("another one does not hold it any more", OTHERS, 15, OTHERS, Record("me", 15, START, START, 4)),
        ("it is mine", None, 0, MINE, Record("me", 15, START, START, 3)),
        ("it was mine", MINE, 0, OTHERS, Wait("held by other", lost=True)),
        ("it was mine and nobody's now", MINE, 0, Record(), Record("me", 15, START, START, 1)),
        (
            "a strategy is for coordinated elections",
            None,
            0,
            Record("", 1, START, START, 3, "OldestEmulationVersion", "other"),
            Record("me", 15, START, START, 4),
        ),
    ],
)
def test_what_a_candidate_proposes(
    sentence: str, seen: Record | None, age: float, current: Record | None, expected: Record | Wait, hands: Any
) -> None:
    candidacy = Candidacy("me", 15.0, hands, lambda: START)
    if seen is not None:
        candidacy.observe(seen)
    hands.now += age
    assert candidacy.propose(current) == expected, sentence


def test_records_and_leases_say_the_same() -> None:
    record = Record("me", 15, START, START, 3, "OldestEmulationVersion", "other")
    assert record_of(spec_of(record)) == record
    assert spec_of(Record()).holder_identity == "", "nobody is written as such"
    assert spec_of(Record()).strategy is None


# -- settings


def test_settings_of_a_configuration() -> None:
    config = LeaderElection(
        lease_duration=Duration(15 * 10**9),
        renew_deadline=Duration(10 * 10**9),
        retry_period=Duration(2 * 10**9),
        resource_name="kube-scheduler",
        resource_namespace="kube-system",
    )
    settings = settings_from(config)
    host, _, unique = settings.identity.rpartition("_")
    assert host
    assert len(unique) == 36
    assert settings_from(config).identity != settings.identity
    assert settings_from(config, identity="me", coordinated=True) == ElectionSettings(
        "me", "kube-system", "kube-scheduler", 15.0, 10.0, 2.0, True
    )


def test_a_deadline_that_leaves_no_time_to_retry() -> None:
    config = LeaderElection(
        lease_duration=Duration(15 * 10**9), renew_deadline=Duration(10 * 10**9), retry_period=Duration(9 * 10**9)
    )
    with pytest.raises(KubeschedError, match=r"renewDeadline must be greater than retryPeriod\*JitterFactor"):
        settings_from(config)
