"""ZoneSignal: values of zones over HTTP, scores by them, and what is stale."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example_with_server
from packages.contrib.tests.looking_up import built, run, scores, served
from prometheus_client import REGISTRY

from kubesched import HttpError, PluginError
from kubesched.testing import EngineFactory, FakeHttp, SchedulerFactory, a_cluster, a_node, a_pod, check_plugin
from kubesched_contrib.zone_signal import ZoneSignal
from kubesched_contrib.zone_signal.arguments import ZoneSignalArgs
from kubesched_contrib.zone_signal.json_values import values_by_zone
from kubesched_contrib.zone_signal.plugin import UNKNOWN

URL = "http://signal/now"
KEY = "topology.kubernetes.io/region"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def in_region(name: str, region: str = "") -> Any:
    return a_node(name, labels={KEY: region} if region else {})


NODES = [in_region("a", "east"), in_region("b", "west"), in_region("c", "north"), in_region("d")]


def final(answers: Any, **args: Any) -> dict[str, int]:
    """Return the scores of nodes in the east, west, north and nowhere."""
    cluster = a_cluster(*NODES)
    plugin, background = built(ZoneSignal, ZoneSignalArgs(**{"url": URL, **args}), cluster, FakeHttp(answers))
    run(background.look_up())
    raw = scores(plugin, cluster, a_pod("p"))
    found = plugin.normalize_scores(None, None, np.array(list(raw.values()), np.int64)).tolist()
    return dict(zip(raw, found, strict=True))


@pytest.mark.parametrize(
    ("answer", "args", "expected"),
    [
        pytest.param({"east": 300, "west": 100}, {}, {"a": 0, "b": 100, "c": 0, "d": 0}, id="the lowest is best"),
        pytest.param(
            {"east": 300, "west": 100, "north": 250}, {"prefer": "High"}, {"a": 100, "b": 0, "c": 75, "d": 0}, id="high"
        ),
        pytest.param({"east": -5, "west": 5}, {}, {"a": 100, "b": 0, "c": 0, "d": 0}, id="a price below zero"),
        pytest.param({"east": 7, "west": 7}, {}, {"a": 100, "b": 100, "c": 0, "d": 0}, id="the same everywhere"),
        pytest.param({"east": "1.5", "west": "1"}, {}, {"a": 0, "b": 100, "c": 0, "d": 0}, id="numbers as texts"),
        pytest.param(
            {"DE": {"g": [1, 9]}, "SE": {"g": [1, 3]}},
            {"zones": {"east": "DE", "west": "SE"}, "value_path": "g.1"},
            {"a": 0, "b": 100, "c": 0, "d": 0},
            id="other names of zones, and a path to values",
        ),
        pytest.param(
            {
                "data": [
                    {"z": {"id": "east"}, "v": 4},
                    {"z": {"id": "west"}, "v": 2},
                    {"v": 1},
                    {"z": {"id": 5}, "v": 1},
                ]
            },
            {"path": "data", "name_path": "z.id", "value_path": "v"},
            {"a": 0, "b": 100, "c": 0, "d": 0},
            id="a list",
        ),
        pytest.param(
            {"east": 1, "west": None, "north": True, "d": float(10**300)},
            {},
            {"a": 100, "b": 0, "c": 0, "d": 0},
            id="what is no number is left out",
        ),
        pytest.param({"east": 1e300, "west": -1e300}, {}, {"a": 0, "b": 100, "c": 0, "d": 0}, id="very large numbers"),
    ],
)
def test_nodes_score_by_the_value_of_their_zone(answer: Any, args: dict[str, Any], expected: dict[str, int]) -> None:
    assert final({URL: answer}, **args) == expected


def test_a_server_may_answer_for_one_zone_at_a_time(caplog: pytest.LogCaptureFixture) -> None:
    answers = {f"{URL}?zone=D%20E": {"v": 3}, f"{URL}?zone=SE": {"v": 1}}
    zones = {"east": "D E", "west": "SE", "north": "SE"}
    args = {"url": URL + "?zone={zone}", "value_path": "v", "zones": zones}
    assert final(answers, **args) == {"a": 0, "b": 100, "c": 100, "d": 0}
    with caplog.at_level(logging.WARNING, "kubesched.plugins.ZoneSignal"):
        assert final({f"{URL}?zone=SE": {"v": 1}}, **args) == {"a": 0, "b": 100, "c": 100, "d": 0}
    assert [record.message for record in caplog.records] == ["Zones without a signal"]


def replying(**options: Any) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(**options)

    return handle


async def slow(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


@pytest.mark.parametrize(
    ("handle", "words"),
    [
        pytest.param(replying(status=500), "status 500", id="500"),
        pytest.param(replying(text="hello"), "the answer is not JSON", id="no JSON"),
        pytest.param(replying(text="[]"), "path 'data.zones': 'data' is missing", id="another shape"),
        pytest.param(replying(text='{"data": {"zones": 5}}'), "expected an object or a list of zones", id="no zones"),
        pytest.param(replying(text='{"data": {"zones": {"a": []}}}'), "has no number at", id="no numbers"),
        pytest.param(replying(body=b" " * (33 << 20)), "longer than 32 MiB", id="a huge body"),
        pytest.param(slow, "no answer within 0.2 seconds", id="a slow server"),
    ],
)
def test_what_is_no_signal_is_one_error_without_secrets(handle: Handler, words: str) -> None:
    async def ask() -> None:
        async with served(handle) as (address, http):
            args = ZoneSignalArgs(
                url=address.replace("//", "//me:hunter2@"),
                path="data.zones",
                headers={"X-Key": "hunter2"},
                timeout_seconds=0.2 if handle is slow else 10,
            )
            assert "hunter2" not in repr(args).replace(args.url, "")
            _, background = built(ZoneSignal, args, a_cluster(), http)
            await background.look_up()

    with pytest.raises(HttpError) as caught:
        run(ask())
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_the_token_and_headers_are_sent() -> None:
    sent: dict[str, str] = {}

    async def handle(request: web.Request) -> web.StreamResponse:
        sent.update(request.headers)
        return web.json_response({"east": 1})

    async def ask() -> None:
        async with served(handle) as (address, http):
            args = ZoneSignalArgs(url=address, token="hunter2", headers={"X-Key": "mine"})
            _, background = built(ZoneSignal, args, a_cluster(), http)
            await background.look_up()

    run(ask())
    assert (sent["Authorization"], sent["X-Key"]) == ("Bearer hunter2", "mine")


def test_values_count_until_they_are_stale(scheduler: SchedulerFactory, caplog: pytest.LogCaptureFixture) -> None:
    answers: dict[str, Any] = {URL: {"east": 9, "west": 1}}
    args = {"ZoneSignal": {"url": URL, "intervalSeconds": 60, "staleAfterSeconds": 300}}

    def zones() -> Any:
        return REGISTRY.get_sample_value("kubesched_plugin_zone_signal_zones")

    with caplog.at_level(logging.WARNING, "kubesched.plugins.ZoneSignal"):
        world = scheduler(ZoneSignal, args=args, http=FakeHttp(lambda url: answers[url]))
        world.put(*NODES, a_pod("first", cpu="1m"))
        world.run(1)
        assert (world.node_of("first"), zones()) == ("b", 2)
        answers[URL] = {"east": 1, "west": 9}
        world.run(60)
        world.put(a_pod("second", cpu="1m"))
        world.run(1)
        assert world.node_of("second") == "a"
        answers[URL] = HttpError("the server is down")
        world.run(240)
        assert zones() == 2, "what is known stays for a while"
        world.run(120)
        assert zones() == 0
        world.put(a_pod("third", cpu="1m"))
        world.run(1)
        assert world.node_of("third"), "others decide"
    told = [record.message for record in caplog.records if record.message != "Lookup failed"]
    assert told == ["Signals are older than 300 seconds and dropped"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, r"args\.url: is required"),
        ({"url": "signal"}, "url: write it as https://host/path"),
        ({"url": "http://me:hunter2@[x"}, "url: write it as https://host/path"),
        ({"url": URL, "intervalSeconds": 0}, "intervalSeconds: must be at least 1 seconds, got 0"),
        ({"url": URL, "staleAfterSeconds": 60}, "staleAfterSeconds: must not be less than intervalSeconds"),
        ({"url": URL + "/{zone}"}, "zones: is empty; give the values"),
        ({"url": URL + "/{zone}", "zones": {"a": "b"}, "path": "x"}, "has only a valuePath"),
        ({"url": URL, "topologyKey": ""}, "topologyKey: is empty"),
        ({"url": URL, "prefer": "Least"}, r"args\.prefer: invalid enum value 'Least'"),
        ({"url": URL, "jsonPath": "x"}, r"args\.jsonPath: there is no such field"),
    ],
)
def test_wrong_arguments_are_told_at_start(engine: EngineFactory, args: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words) as caught:
        engine([], plugins=[ZoneSignal], args={"ZoneSignal": args})
    assert "hunter2" not in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("ab1.", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "1"]), inner, max_size=3),
    max_leaves=10,
)
PATH = st.lists(st.sampled_from(["a", "b", "0", "1"]), max_size=2).map(".".join)


@given(JSON, PATH, PATH, PATH)
def test_any_json_gives_finite_numbers_or_is_refused(document: Any, path: str, name: str, value: str) -> None:
    try:
        found = values_by_zone(document, path, name, value)
    except ValueError:
        return
    assert all(isinstance(zone, str) and abs(number) < float("inf") for zone, number in found.items())


@given(st.lists(st.one_of(st.just(UNKNOWN), st.integers(-(2**53), 2**53)), max_size=8))
def test_final_scores_are_in_range_and_in_order(raw: list[int]) -> None:
    plugin: Any = ZoneSignal.__new__(ZoneSignal)
    found = plugin.normalize_scores(None, None, np.array(raw, np.int64)).tolist()
    assert all(0 <= score <= 100 for score in found)
    ordered = [score for _, score in sorted(zip(raw, found, strict=True))]
    assert ordered == sorted(ordered)


class Told(ZoneSignal):
    """With values from the start."""

    def __init__(self, args: ZoneSignalArgs, cluster: Any, background: Any, http: Any, log: Any, metrics: Any) -> None:
        super().__init__(args, cluster, background, http, log, metrics)
        self._values = {"east": (3.0, 0.0), "west": (1.0, 0.0)}


def test_it_holds_to_the_contract() -> None:
    assert check_plugin(Told, args={"url": URL}, nodes=NODES, examples=20, speed=False)


def test_the_example_prefers_the_region_with_little_carbon(tmp_path: Path) -> None:
    assert run_example_with_server("zone-signal", tmp_path) == {"web": "stockholm"}
