"""/statusz, /flagz and what is under /debug."""

import asyncio
import json
import platform
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import cbor2
import msgspec
import pytest
import yaml
from tests.support.serving import Facts, Served, served

from kubesched.serving.decisions.page import PATH as DECISIONS_PATH
from kubesched.serving.decisions.ring import DecisionRing
from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.profiling import Profiler
from kubesched.serving.pages.routes import Pages
from kubesched.serving.queue.records import PATH as QUEUE_PATH
from kubesched.serving.queue.records import VERSION, QueuePage

OPEN_TO_ALL = ServingOptions(authorization_always_allow_paths=("*",))
# the paths that kube-scheduler v1.36.4 lists
PATHS = ["/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"]


@pytest.fixture(scope="module")
def found() -> Iterator[Served]:
    with served(OPEN_TO_ALL) as scheduler:
        yield scheduler


def test_statusz_as_a_text(found: Served) -> None:
    reply = found.fetch("/statusz")
    lines = reply.body.splitlines()
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert lines[:2] == ["", "kube-scheduler statusz"]
    assert lines[2].startswith("Warning: This endpoint is not meant to be machine parseable")
    assert lines[4] == "Started: Tue Nov 14 22:13:20 UTC 2023"
    assert lines[5].startswith("Up: ")
    assert lines[6:] == [
        f"Python version: {platform.python_version()}",
        "Binary version: 1.36.4",
        "Emulation version: 1.36",
        f"Paths: {' '.join(PATHS)}",
    ]


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_statusz_as_an_object(found: Served, form: str) -> None:
    reply = found.fetch("/statusz", {"Accept": f"application/{form};v=v1beta1;g=config.k8s.io;as=Statusz"})
    assert reply.headers["Content-Type"] == f"application/{form};g=config.k8s.io;v=v1beta1;as=Statusz"
    value = json.loads(reply.body) if form == "json" else yaml.safe_load(reply.body)
    assert value.pop("uptimeSeconds") > 0
    assert value == {
        "kind": "Statusz",
        "apiVersion": "config.k8s.io/v1beta1",
        "metadata": {"name": "kube-scheduler"},
        "startTime": "2023-11-14T22:13:20Z",
        "goVersion": f"python{platform.python_version()}",
        "binaryVersion": "1.36.4",
        "emulationVersion": "1.36",
        "paths": PATHS,
    }


class WithEveryPage(Facts):
    """A scheduler that serves all pages, also those about decisions and the queue."""

    def pages(self) -> Pages:
        ring = DecisionRing(1 << 20, now=lambda: 100.0)
        page = QueuePage(version=VERSION, now=datetime(2026, 1, 1, tzinfo=UTC), counts={})
        return msgspec.structs.replace(super().pages(), decisions=ring, queue=lambda: page)


def test_statusz_lists_the_paths_of_kube_scheduler_and_none_below_debug() -> None:
    with served(OPEN_TO_ALL, facts=WithEveryPage()) as everything:
        for path in (DECISIONS_PATH, QUEUE_PATH, "/debug/pprof/"):
            assert everything.fetch(path).code == 200, path
        reply = everything.fetch("/statusz", {"Accept": "application/json;v=v1beta1;g=config.k8s.io;as=Statusz"})
        assert json.loads(reply.body)["paths"] == PATHS
        assert everything.fetch("/statusz").body.splitlines()[-1] == f"Paths: {' '.join(PATHS)}"


def test_flagz_in_both_forms(found: Served) -> None:
    assert found.fetch("/flagz").body.splitlines()[3:] == ["secure-port: 10259", "v: 2"]
    reply = found.fetch("/flagz", {"Accept": "application/json;v=v1alpha1;g=config.k8s.io;as=Flagz"})
    assert json.loads(reply.body) == {
        "kind": "Flagz",
        "apiVersion": "config.k8s.io/v1alpha1",
        "metadata": {"name": "kube-scheduler"},
        "flags": {"secure-port": "10259", "v": "2"},
    }
    assert reply.headers["Warning"].startswith('299 - "This version of the flagz endpoint is deprecated.')


@pytest.mark.parametrize(
    ("case", "accept", "code"),
    [
        ("a text", "text/plain", 200),
        ("any text", "text/*", 200),
        ("anything", "*/*", 200),
        ("nothing said", "", 200),
        ("JSON, but not as what", "application/json", 406),
        ("another kind", "application/json;v=v1beta1;g=config.k8s.io;as=Statusz", 406),
        ("a version that does not exist", "application/json;v=v9;g=config.k8s.io;as=Flagz", 406),
        ("a form that is not offered", "application/cbor;v=v1beta1;g=config.k8s.io;as=Flagz", 406),
        ("a stream", "application/json;v=v1beta1;g=config.k8s.io;as=Flagz;stream=watch", 406),
        ("HTML, or else a text", "text/html,text/plain;q=0.5", 200),
    ],
)
def test_what_can_be_asked_for(found: Served, case: str, accept: str, code: int) -> None:
    reply = found.fetch("/flagz", {"Accept": accept})
    assert reply.code == code, case
    if code == 406:
        assert json.loads(reply.body)["message"] == (
            "only the following media types are accepted: application/json, application/yaml, text/plain"
        )


# -- CBOR


@pytest.fixture(scope="module")
def offering_cbor() -> Iterator[Served]:
    facts = Facts()
    facts.cbor = True
    with served(OPEN_TO_ALL, facts=facts) as scheduler:
        yield scheduler


def test_both_pages_in_cbor_behind_its_gate(offering_cbor: Served) -> None:
    """Marked as CBOR, with byte strings for texts and the shorter key first."""
    reply = offering_cbor.fetch("/flagz", {"Accept": "application/cbor;v=v1beta1;g=config.k8s.io;as=Flagz"})
    assert reply.headers["Content-Type"] == "application/cbor;g=config.k8s.io;v=v1beta1;as=Flagz"
    assert reply.data.hex() == (
        "d9d9f7a4"  # self-described, a map of four
        "446b696e64"
        "45466c61677a"  # kind: Flagz
        "45666c616773"
        "a2"
        "4176"
        "4132"
        "4b7365637572652d706f7274"
        "453130323539"  # flags: v: 2, secure-port: 10259
        "486d65746164617461"
        "a1"
        "446e616d65"
        "4e6b7562652d7363686564756c6572"  # metadata: name: kube-scheduler
        "4a61706956657273696f6e"
        "55636f6e6669672e6b38732e696f2f76316265746131"  # apiVersion: config.k8s.io/v1beta1
    )
    status = offering_cbor.fetch("/statusz", {"Accept": "application/cbor;v=v1beta1;g=config.k8s.io;as=Statusz"})
    value = cbor2.loads(status.data)
    assert (value[b"kind"], value[b"startTime"], value[b"paths"][0]) == (
        b"Statusz",
        b"2023-11-14T22:13:20Z",
        b"/configz",
    )
    assert value[b"uptimeSeconds"] > 0


def test_with_its_gate_cbor_is_among_what_is_offered(offering_cbor: Served) -> None:
    reply = offering_cbor.fetch("/flagz", {"Accept": "application/cbor;v=v1beta1;g=config.k8s.io;as=Statusz"})
    assert (reply.code, json.loads(reply.body)["message"]) == (
        406,
        "only the following media types are accepted: application/json, application/yaml, text/plain, application/cbor",
    )


# -- /debug


def test_stacks_of_all_threads(found: Served) -> None:
    """With the names of functions, and no value of any variable."""
    go_on = threading.Event()

    def wait_for_it(secret: str) -> None:
        go_on.wait(10)

    thread = threading.Thread(target=wait_for_it, args=("hush",), name="waiting")
    thread.start()
    try:
        body = found.fetch("/debug/pprof/goroutine?debug=2").body
    finally:
        go_on.set()
        thread.join()
    assert "[waiting]:" in body
    assert "wait_for_it" in body
    assert "hush" not in body


def test_a_profile_in_collapsed_stacks(found: Served) -> None:
    go_on = threading.Event()

    def busy_bee() -> None:
        while not go_on.is_set():
            sum(range(1000))

    thread = threading.Thread(target=busy_bee, name="hive")
    thread.start()
    try:
        reply = found.fetch("/debug/pprof/profile?seconds=1")
    finally:
        go_on.set()
        thread.join()
    lines = [line for line in reply.body.splitlines() if line.startswith("hive;")]
    assert lines
    assert all(line.rpartition(" ")[2].isdigit() for line in reply.body.splitlines())
    assert any("busy_bee" in line for line in lines)


def test_one_profile_at_a_time() -> None:
    async def two() -> tuple[str | None, str | None]:
        profiler = Profiler()
        return await asyncio.gather(profiler.sample(0.02), profiler.sample(0.02))

    first, second = asyncio.run(two())
    assert first is not None
    assert second is None


def test_the_index_of_profiles(found: Served) -> None:
    reply = found.fetch("/debug/pprof")
    assert (reply.code, reply.headers["Location"]) == (302, "/debug/pprof/")
    assert "goroutine" in found.fetch("/debug/pprof/").body
    unknown = found.fetch("/debug/pprof/heap")
    assert (unknown.code, unknown.body, unknown.headers["X-Go-Pprof"]) == (404, "Unknown profile\n", "1")


@pytest.mark.parametrize(
    ("case", "method", "body", "code", "text"),
    [
        ("a level", "PUT", "5", 200, "successfully set klog.logging.verbosity to 5\n"),
        ("no number", "PUT", "abc", 400, 'strconv.ParseUint: parsing "abc": invalid syntax\n'),
        ("less than nothing", "PUT", "-1", 400, 'strconv.ParseUint: parsing "-1": invalid syntax\n'),
        ("nothing", "PUT", "", 400, 'strconv.ParseUint: parsing "": invalid syntax\n'),
        ("too much", "PUT", "99999999999", 400, 'strconv.ParseUint: parsing "99999999999": value out of range\n'),
        ("only to be set", "GET", "", 406, "unsupported http method\n"),
        ("a body without end", "PUT", "1" * 100_000, 413, "413 Request Entity Too Large\n"),
    ],
)
def test_how_much_is_logged(found: Served, case: str, method: str, body: str, code: int, text: str) -> None:
    found.facts.verbosity.clear()
    reply = found.fetch("/debug/flags/v", method=method, body=body.encode() or None)
    assert (reply.code, reply.body) == (code, text), case
    assert found.facts.verbosity == ([5] if code == 200 else [])
