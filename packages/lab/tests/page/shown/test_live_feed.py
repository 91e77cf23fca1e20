"""A live cluster is followed; one that is started again elsewhere is found where its kubeconfig says."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.models import a_model
from tests.support.served_cluster import ServedCluster, a_served_cluster

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import Refused, Rest, RestConfig
from kubesched.errors import KubeschedError
from kubesched.sources.followed_kinds import FollowableKinds, followable_kinds
from kubesched_lab.page.shown import live_feed
from kubesched_lab.page.shown.live_feed import follow
from kubesched_lab.page.shown.shown_cluster import ShownCluster

SECONDS = 60.0


def node(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def test_a_cluster_that_is_started_again_is_followed_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_feed, "PROBE_SECONDS", 0.01)
    notes: list[str] = []
    running: list[ServedCluster] = []

    def find() -> RestConfig:
        if not running:
            raise KubeschedError("no cluster is up")
        return load_rest_config(running[-1].kubeconfig())

    async def story(first: ExitStack, second: ExitStack) -> None:
        running.append(first.enter_context(a_served_cluster(tmp_path, node("before"))))
        target = find()
        model = a_model()
        model.source = replace(model.source, server=target)
        shown = ShownCluster(model)
        following = asyncio.create_task(follow(shown, target, find, notes.append))
        try:
            await until(lambda: list(model.node_names()) == ["before"])
            running.clear()
            await asyncio.to_thread(first.close)
            await until(lambda: shown.source["state"] == "lost")
            running.append(second.enter_context(a_served_cluster(tmp_path, node("after"))))
            await until(lambda: list(model.node_names()) == ["after"])
            await until(lambda: shown.source["state"] == "there")
            assert model.source.server is not None
            assert model.source.server.server == find().server
            assert f"the cluster has moved to {find().server}" in notes
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    with ExitStack() as first, ExitStack() as second:
        asyncio.run(story(first, second))


@pytest.mark.parametrize("code", [429, 500, 502, 503])
def test_a_cluster_that_is_not_well_at_first_is_followed_when_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(live_feed, "PROBE_SECONDS", 0.01)
    refusals = [Refused(code, "", "not now")] * 3

    async def refused(rest: Rest, *, custom_kinds: Collection[str]) -> FollowableKinds:
        if refusals:
            raise refusals.pop()
        return await followable_kinds(rest, custom_kinds=custom_kinds)

    monkeypatch.setattr(live_feed, "followable_kinds", refused)

    async def story(served: ServedCluster) -> None:
        target = load_rest_config(served.kubeconfig())
        model = a_model()
        following = asyncio.create_task(follow(ShownCluster(model), target, lambda: target, lambda line: None))
        try:
            await until(lambda: following.done() or list(model.node_names()) == ["n"])
            assert not following.done()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    with a_served_cluster(tmp_path, node("n")) as served:
        asyncio.run(story(served))
