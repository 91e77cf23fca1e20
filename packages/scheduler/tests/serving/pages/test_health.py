"""Health, check by check and as a whole, to the letter as the reference writes it."""

import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from tests.support.serving import Facts, served

from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.health import HealthCheck, HealthPage
from kubesched.serving.requests import PageRequest, PageResponse


async def _nothing() -> bytes:
    return b""


def ask(facts: Facts, path: str, notes: list[str] | None = None, **query: list[str]) -> PageResponse | None:
    """Return a health page, None if there is no such page."""
    page = HealthPage(path.split("/")[1], facts.checks(), (notes if notes is not None else []).append).paths().get(path)
    request = PageRequest("GET", path, path, query, CIMultiDictProxy(CIMultiDict()), _nothing)
    return None if page is None else page(request)


SICK = Facts()
SICK.leader_problem = "failed election to renew leadership on lease kube-scheduler"
SICK.synced = False
WELL = Facts()


@pytest.mark.parametrize(
    ("case", "facts", "path", "query", "code", "text"),
    [
        ("all is well", WELL, "/healthz", {}, 200, "ok"),
        ("and in detail", WELL, "/healthz", {"verbose": [""]}, 200, "[+]leaderElection ok\nhealthz check passed\n"),
        ("alive is whoever answers", SICK, "/livez", {"verbose": [""]}, 200, "[+]ping ok\nlivez check passed\n"),
        (
            "ready in all respects",
            WELL,
            "/readyz",
            {"verbose": [""]},
            200,
            "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n",
        ),
        (
            "what fails is named, why is not",
            SICK,
            "/readyz",
            {},
            500,
            "[-]leaderElection failed: reason withheld\n[+]shutdown ok\n"
            "[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n",
        ),
        (
            "checks that are excluded count as passed",
            SICK,
            "/readyz",
            {"exclude": ["leaderElection", "sched-handler-sync"], "verbose": [""]},
            200,
            "[+]leaderElection excluded: ok\n[+]shutdown ok\n[+]sched-handler-sync excluded: ok\nreadyz check passed\n",
        ),
        ("and need no words", SICK, "/healthz", {"exclude": ["leaderElection"]}, 200, "ok"),
        (
            "names that are no checks are told",
            WELL,
            "/healthz",
            {"exclude": ["b", "a"], "verbose": [""]},
            200,
            '[+]leaderElection ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\n'
            "healthz check passed\n",
        ),
        ("one check", WELL, "/readyz/shutdown", {}, 200, "ok"),
        (
            "one check that fails says why to those who may ask it",
            SICK,
            "/healthz/leaderElection",
            {},
            500,
            "internal server error: failed election to renew leadership on lease kube-scheduler\n",
        ),
        (
            "not synchronized",
            SICK,
            "/readyz/sched-handler-sync",
            {},
            500,
            "internal server error: handlers are not fully synchronized\n",
        ),
    ],
)
def test_health(case: str, facts: Facts, path: str, query: dict[str, list[str]], code: int, text: str) -> None:
    found = ask(facts, path, **query)
    assert found is not None
    assert (found.code, found.body.decode()) == (code, text), case


def test_a_check_that_another_page_has_is_no_page_here() -> None:
    assert ask(WELL, "/healthz/shutdown") is None
    assert ask(WELL, "/livez/leaderElection") is None


def test_why_goes_to_the_log_once_while_it_stays_the_same() -> None:
    notes: list[str] = []
    facts = Facts()
    page = HealthPage("healthz", facts.checks(), notes.append)
    request = PageRequest("GET", "/healthz", "/healthz", {}, CIMultiDictProxy(CIMultiDict()), _nothing)
    for problem in (None, "lost", "lost", None, "lost"):
        facts.leader_problem = problem
        page.whole(request)
    assert notes == ["leaderElection check failed: healthz: leaderElection: lost"] * 2


def test_outcomes_are_observed() -> None:
    """For /metrics/slis: each check of each page, but none that was excluded."""
    facts = Facts()
    facts.synced = False
    ask(facts, "/readyz", exclude=["shutdown"])
    assert facts.observed == [("leaderElection", "readyz", True), ("sched-handler-sync", "readyz", False)]


def test_a_check_that_cannot_be_carried_out_has_failed() -> None:
    def broken() -> None:
        raise RuntimeError("no idea")

    facts = Facts()
    page = HealthPage("healthz", type(facts.checks())(healthz=(HealthCheck("broken", broken),)), lambda line: None)
    request = PageRequest("GET", "/healthz", "/healthz", {}, CIMultiDictProxy(CIMultiDict()), _nothing)
    assert page.whole(request).code == 500


def test_a_process_that_shuts_down_is_not_ready_but_alive() -> None:
    with served(ServingOptions()) as found:
        assert found.fetch("/readyz").code == 200
        found.facts.stopping = True
        assert found.fetch("/readyz").code == 500
        assert found.fetch("/healthz").code == found.fetch("/livez").code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_any_method_will_do(method: str) -> None:
    with served() as found:
        reply = found.fetch("/healthz", method=method)
        assert reply.code == 200
        assert reply.body == ("" if method == "HEAD" else "ok")
        assert reply.headers["Content-Length"] == "2"
