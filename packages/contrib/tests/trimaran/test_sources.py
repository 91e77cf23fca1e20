"""Sources of load metrics, asked over HTTP: what they answer, and whatever else comes back."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from packages.contrib.tests.looking_up import run, served
from packages.contrib.tests.trimaran.loads import a_metric, watched

from kubesched import HttpError
from kubesched.testing import FakeHttp
from kubesched_contrib.trimaran.arguments import MetricProviderSpec, TrimaranArgs
from kubesched_contrib.trimaran.node_loads import NodeLoads, add_from_prometheus, from_load_watcher, from_metrics_api
from kubesched_contrib.trimaran.sources import METRICS_API, load_source

CPU_AVERAGE, CPU_DEVIATION, MEMORY_AVERAGE = ("cpu", "AVG"), ("cpu", "STD"), ("memory", "AVG")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def asked(handle: Handler, args_at: Callable[[str], TrimaranArgs]) -> NodeLoads:
    """Return what a source says that is served by a function."""

    async def ask() -> NodeLoads:
        async with served(handle) as (address, http):
            return await load_source(args_at(address), http)()

    loads: NodeLoads = run(ask())
    return loads


def from_watcher(handle: Handler) -> NodeLoads:
    return asked(handle, lambda address: TrimaranArgs(watcher_address=address + "/"))


def replying(**options: Any) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(**options)

    return handle


@pytest.mark.parametrize(
    ("metrics", "values"),
    [
        pytest.param(
            [a_metric("CPU", 20), a_metric("CPU", 5, "STD"), a_metric("Memory", 30)],
            {CPU_AVERAGE: 20, CPU_DEVIATION: 5, MEMORY_AVERAGE: 30},
            id="averages and deviations",
        ),
        pytest.param([a_metric("CPU", 7, "Latest")], {CPU_AVERAGE: 7}, id="the latest value if there is no average"),
        pytest.param(
            [a_metric("CPU", 7, "Latest"), a_metric("CPU", 20)], {CPU_AVERAGE: 20}, id="an average comes first"
        ),
        pytest.param(
            [{"type": "cpu", "rollup": "AVG", "value": 9}], {CPU_AVERAGE: 9}, id="before there were operators"
        ),
        pytest.param([{"type": "CPU", "value": 9}], {CPU_AVERAGE: 9}, id="no statistic"),
        pytest.param([a_metric("Energy", 9), a_metric("CPU", 9, "MAX")], {}, id="others are left out"),
        pytest.param([a_metric("CPU", "9"), a_metric("CPU", -1), a_metric("CPU", None), 5], {}, id="what is no number"),
        pytest.param({"CPU": 5}, {}, id="no list"),
    ],
)
def test_load_watcher_is_understood(metrics: Any, values: dict[Any, float]) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.path == "/watcher"
        return web.json_response(watched(1000, n1=metrics, n2="?"))

    loads = from_watcher(handle)
    assert loads.window_end == 1000
    assert loads.values == {key: {"n1": value} for key, value in values.items()}


@pytest.mark.parametrize(
    ("handle", "words"),
    [
        pytest.param(replying(text="hello"), "the answer is not JSON", id="no JSON"),
        pytest.param(replying(status=500), "the server answered with status 500", id="500"),
        pytest.param(replying(status=404, text="{}"), "the server answered with status 404", id="404"),
        pytest.param(replying(text="[]"), "unexpected response: expected an object", id="a list"),
        pytest.param(replying(text="{}"), "expected nodes in `data`", id="no nodes"),
        pytest.param(replying(text='{"data": {"n": {}}}'), "in `window.end`", id="no window"),
        pytest.param(
            replying(text='{"data": {}, "window": {"end": "x"}}'), "in `window.end`", id="a time that is none"
        ),
        pytest.param(replying(body=b" " * (33 << 20)), "longer than 32 MiB", id="a huge body"),
    ],
)
def test_what_load_watcher_does_not_say_is_one_error(handle: Handler, words: str) -> None:
    with pytest.raises(HttpError) as caught:
        from_watcher(handle)
    assert words in str(caught.value)
    assert "/watcher: " in str(caught.value)


def test_prometheus_is_asked_for_four_vectors_with_the_token() -> None:
    values = {
        "avg_over_time(instance:node_cpu:ratio[15m])": "0.25",
        "stddev_over_time(instance:node_cpu:ratio[15m])": "0.5",
    }
    queries = []

    async def handle(request: web.Request) -> web.StreamResponse:
        assert (request.path, request.headers["Authorization"]) == ("/api/v1/query", "Bearer hunter2")
        queries.append(request.query["query"])
        value = values.get(request.query["query"], "NaN")
        result = [{"metric": {"instance": "n1"}, "value": [1000.5, value]}, {"metric": {}, "value": [1, "2"]}, 3]
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": result}})

    def args_at(address: str) -> TrimaranArgs:
        return TrimaranArgs(MetricProviderSpec("Prometheus", address, "hunter2"))

    loads = asked(handle, args_at)
    assert (loads.window_end, loads.values) == (1000.5, {CPU_AVERAGE: {"n1": 25}, CPU_DEVIATION: {"n1": 50}})
    assert len(queries) == 4


@pytest.mark.parametrize(
    ("handle", "words"),
    [
        pytest.param(replying(status=401), "status 401", id="refused"),
        pytest.param(replying(text='{"data": 5}'), "expected a vector in `data.result`", id="another shape"),
        pytest.param(
            replying(text='{"data": {"resultType": "matrix", "result": []}}'), "expected a vector", id="a matrix"
        ),
    ],
)
def test_errors_of_prometheus_do_not_show_the_token(handle: Handler, words: str) -> None:
    with pytest.raises(HttpError) as caught:
        asked(handle, lambda address: TrimaranArgs(MetricProviderSpec("Prometheus", address, "hunter2")))
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(MetricProviderSpec(token="hunter2"))


def test_the_metrics_api_is_asked_through_the_api_server() -> None:
    items = [
        {"metadata": {"name": "n1"}, "timestamp": "1970-01-01T00:16:40Z", "usage": {"cpu": "250m", "memory": "1Ki"}},
        {"metadata": {"name": "n2"}, "timestamp": "1970-01-01T00:16:30Z", "usage": {"cpu": "1500000000n"}},
        {"metadata": {"name": "n3"}, "timestamp": "now", "usage": {"cpu": "1"}},
        {"metadata": {"name": "n4"}, "timestamp": "1970-01-01T00:16:30Z", "usage": {"cpu": "many"}},
        "n5",
    ]
    http: Any = FakeHttp({METRICS_API: {"kind": "NodeMetricsList", "items": items}})
    loads = run(load_source(TrimaranArgs(), http)())
    assert (loads.window_end, loads.absolute) == (1000, True)
    assert loads.values == {CPU_AVERAGE: {"n1": 250, "n2": 1500}, MEMORY_AVERAGE: {"n1": 1024}}
    http.answers[METRICS_API] = {"kind": "Status"}
    with pytest.raises(HttpError, match=f"{METRICS_API}: .* expected a NodeMetricsList with `items`"):
        run(load_source(TrimaranArgs(), http)())


def test_a_load_watcher_that_does_not_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched_contrib.trimaran.sources.WATCHER_SECONDS", 0.1)

    async def handle(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    with pytest.raises(HttpError, match=r"no answer within 0\.1 seconds"):
        from_watcher(handle)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["data", "window", "end", "metrics", "type", "value", "items", "metadata", "result", "usage"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_understood_or_refused(document: Any) -> None:
    for read in (
        from_load_watcher,
        from_metrics_api,
        lambda document: add_from_prometheus(NodeLoads(0), "cpu", "AVG", document),
    ):
        with suppress(ValueError):
            read(document)
