"""Admission webhooks over HTTPS: who is asked what, and what follows from what they say or fail to say."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from tests.support.webhook_service import GROUP, Document, Story, patching, play

from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.server.verbs.writing import warnings_in
from kubesched_controlplane.transport.local_client import LocalClient

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"


def yes(request: Document) -> Document:
    return {"allowed": True}


def no(request: Document) -> Document:
    return {"allowed": False, "status": {"message": "not today", "reason": "Tired", "code": 418}}


def labelled(key: str, value: str = "x") -> Any:
    """Return a reply that sets a label."""

    def reply(request: Document) -> Document:
        labels = {**(request["object"]["metadata"].get("labels") or {}), key: value}
        return patching({"op": "add", "path": "/metadata/labels", "value": labels})

    return reply


async def until_made(create: Callable[[], Document]) -> Document:
    """Return what is created in the end, by one who comes again as long as that is what the server says."""
    while True:
        with contextlib.suppress(ApiError):
            return create()
        await asyncio.sleep(0.01)


def a_map(name: str = "a", **data: str) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_a_webhook_refuses_in_its_own_words() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("no"))
        code, status = await found.ask("POST", MAPS, a_map())
        assert (code, status["reason"]) == (418, "Tired")
        assert status["message"] == 'admission webhook "no.example.com" denied the request: not today'
        assert (await found.ask("GET", f"{MAPS}/a"))[0] == 404

    play({"no": no}, story)


@pytest.mark.parametrize(
    ("status", "code", "end"),
    [
        ({}, 400, " without explanation"),
        ({"reason": "Forbidden", "code": 403}, 403, ": Forbidden"),
        ({"message": "m", "code": 200}, 400, ": m"),
    ],
)
def test_refusals_without_much_of_a_status(status: Document, code: int, end: str) -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("no"))
        answer = await found.ask("POST", MAPS, a_map())
        assert (answer[0], answer[1]["message"]) == (
            code,
            f'admission webhook "no.example.com" denied the request{end}',
        )

    play({"no": lambda request: {"allowed": False, "status": status}}, story)


def test_what_a_webhook_is_asked() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("yes"))
        await found.ok("POST", MAPS, a_map(x="1"))
        await found.ok("PATCH", f"{MAPS}/a", {"data": {"x": "2"}}, form=MERGE)
        await found.ok("DELETE", f"{MAPS}/a", dryRun="All")
        created, changed, deleted = (request for _, request in found.service.asked)
        assert (created["operation"], created["name"]) == ("CREATE", "a")
        assert created["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
        assert created["resource"] == created["requestResource"]
        assert (created["object"]["data"], created["oldObject"]) == ({"x": "1"}, None)
        assert created["object"]["metadata"]["uid"]
        assert created["userInfo"]["username"] == "kubernetes-admin"
        assert (changed["object"]["data"], changed["oldObject"]["data"]) == ({"x": "2"}, {"x": "1"})
        assert (deleted["operation"], deleted["object"], deleted["dryRun"]) == ("DELETE", None, True)

    play({"yes": yes}, story)


def test_the_object_that_was_shown_is_the_one_that_is_stored() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("yes"))
        document = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"generateName": "a-"}}
        stored = await found.ok("POST", MAPS, document)
        assert len(found.service.asked) == 1
        shown = found.service.asked[0][1]["object"]["metadata"]
        for field in ("name", "uid", "creationTimestamp"):
            assert shown[field] == stored["metadata"][field]

    play({"yes": yes}, story)


def test_webhooks_change_objects_one_after_the_other() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("one"), found.service.hook("two"), mutating=True)
        await found.configure(found.service.hook("yes"))
        stored = await found.ok("POST", MAPS, a_map())
        assert stored["metadata"]["labels"] == {"one": "x", "two": "x"}
        assert [path for path, _ in found.service.asked] == ["one", "two", "yes"]
        first, second, last = (request["object"]["metadata"] for _, request in found.service.asked)
        assert "uid" not in first
        assert second["labels"] == {"one": "x"}
        assert last["labels"] == {"one": "x", "two": "x"}
        changed = await found.ok("PATCH", f"{MAPS}/a", {"metadata": {"labels": None}}, form=MERGE)
        assert changed["metadata"]["labels"] == {"one": "x", "two": "x"}

    play({"one": labelled("one"), "two": labelled("two"), "yes": yes}, story)


def test_what_webhooks_make_of_an_object_has_to_be_right() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("odd"), mutating=True)
        code, status = await found.ask("POST", MAPS, a_map())
        assert code == 422
        assert "metadata.labels: Invalid value" in status["message"]

    play({"odd": labelled("not a key")}, story)


def test_a_webhook_is_asked_again_if_others_change_the_object_after_it() -> None:
    async def story(found: Story) -> None:
        hook = found.service.hook
        await found.configure(hook("one", reinvocationPolicy="IfNeeded"), hook("two"), mutating=True)
        await found.ok("POST", MAPS, a_map())
        assert [path for path, _ in found.service.asked] == ["one", "two", "one"]

    play({"one": yes, "two": labelled("two")}, story)


def test_warnings_reach_whoever_asks() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("warn"))
        answer = await found.raw("POST", MAPS, a_map())
        assert (answer.code, warnings_in(answer)) == (201, ["mind this"])

    play({"warn": lambda request: {"allowed": True, "warnings": ["mind this"]}}, story)


def test_who_is_not_meant_is_not_asked() -> None:
    async def story(found: Story) -> None:
        hook = found.service.hook
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["DELETE"]}
        await found.configure(
            hook("no", name="a.example.com", rules=[rule]),
            hook("no", name="b.example.com", objectSelector={"matchLabels": {"a": "b"}}),
            hook("no", name="c.example.com", namespaceSelector={"matchLabels": {"a": "b"}}),
            hook("no", name="d.example.com", matchConditions=[{"name": "c", "expression": "request.name != 'a'"}]),
        )
        await found.ok("POST", MAPS, a_map())
        assert found.service.asked == []

    play({"no": no}, story)


def failing(kind: str) -> Any:
    """Return a reply that is none."""

    async def slow(request: Document) -> Document:
        await asyncio.Event().wait()
        return {}

    replies: dict[str, Any] = {
        "slow": slow,
        "broken": lambda request: web.Response(status=500, text="ouch"),
        "elsewhere": lambda request: web.Response(status=404),
        "garbled": lambda request: web.Response(text="yes"),
        "stranger": lambda request: {"allowed": True, "uid": "somebody else's"},
        "patching": lambda request: patching({"op": "add", "path": "/data", "value": {}}),
        "nothing": lambda request: web.json_response({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}),
    }
    return replies[kind]


FAILURES = [
    ("slow", "failed to call webhook: Post", ": context deadline exceeded"),
    ("broken", "failed to call webhook", 'an error on the server ("ouch") has prevented the request from succeeding'),
    ("elsewhere", "failed to call webhook", "the server could not find the requested resource"),
    ("garbled", "failed to call webhook", "json parse error"),
    ("stranger", "received invalid webhook response: expected response.uid=", 'got "somebody else\'s"'),
    ("patching", "received invalid webhook response", "validating webhook may not return response.patch"),
    ("nothing", "received invalid webhook response", "webhook response was absent"),
]


@pytest.mark.parametrize(("kind", "start", "end"), FAILURES)
def test_what_becomes_of_a_request_if_a_webhook_fails(kind: str, start: str, end: str) -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook(kind, timeoutSeconds=1))
        code, status = await found.ask("POST", MAPS, a_map())
        assert (code, status["reason"]) == (500, "InternalError")
        words = f'Internal error occurred: failed calling webhook "{kind}.example.com": {start}'
        assert status["message"].startswith(words)
        assert end in status["message"]
        path = f"{GROUP}/validatingwebhookconfigurations/c"
        found_hooks = (await found.ok("GET", path))["webhooks"]
        await found.ok("PATCH", path, {"webhooks": [{**found_hooks[0], "failurePolicy": "Ignore"}]}, form=MERGE)
        await found.ok("POST", MAPS, a_map())

    play({kind: failing(kind)}, story)


def test_who_cannot_be_reached() -> None:
    async def story(found: Story) -> None:
        hook = found.service.hook
        nobody = {"url": "https://127.0.0.1:1/x"}
        stranger = {"url": f"{found.service.url}/yes"}
        service = {"service": {"namespace": "default", "name": "s", "path": "/p"}}
        for client, words in (
            (nobody, 'Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused'),
            (stranger, "tls: failed to verify certificate: x509: certificate signed by unknown authority"),
            (service, 'Post "https://s.default.svc:443/p?timeout=10s": service "s" not found'),
        ):
            await found.configure(hook("yes", clientConfig=client))
            assert words in (await found.ask("POST", MAPS, a_map()))[1]["message"]
            await found.ok("DELETE", f"{GROUP}/validatingwebhookconfigurations/c")
        await found.ok(
            "POST",
            "/api/v1/namespaces/default/services",
            {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 443}]}},
        )
        await found.configure(hook("yes", clientConfig=service))
        words = 'no endpoints available for service "s"'
        assert words in (await found.ask("POST", MAPS, a_map()))[1]["message"]

    play({"yes": yes}, story)


def test_an_object_that_changes_while_a_webhook_thinks_is_asked_about_again() -> None:
    async def story(found: Story) -> None:
        thinking, go_on = asyncio.Event(), asyncio.Event()

        async def think(request: Document) -> Document:
            if request["object"]["data"].get("x") == "slow":
                thinking.set()
                await go_on.wait()
            return {"allowed": True}

        found.service.replies["think"] = think
        await found.configure(found.service.hook("think"))
        await found.ok("POST", MAPS, a_map(x="1"))
        patch = asyncio.create_task(found.ok("PATCH", f"{MAPS}/a", {"data": {"x": "slow"}}, form=MERGE))
        await thinking.wait()
        await found.ok("PATCH", f"{MAPS}/a", {"data": {"y": "2"}}, form=MERGE)
        go_on.set()
        assert (await patch)["data"] == {"x": "slow", "y": "2"}, "nothing is lost"
        assert found.service.asked[-1][1]["object"]["data"] == {"x": "slow", "y": "2"}, "and it was shown"

    play({}, story)


def test_a_webhook_may_ask_the_server_itself() -> None:
    async def story(found: Story) -> None:
        async def curious(request: Document) -> Document:
            await found.ok("GET", MAPS)
            return {"allowed": True}

        found.service.replies["curious"] = curious
        await found.configure(found.service.hook("curious"))
        await found.ok("POST", MAPS, a_map())

    play({}, story)


def test_clients_in_the_same_process_come_again() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("one"), mutating=True)
        client = LocalClient(found.server, ADMINISTRATOR)
        maps = client.resource("v1", "ConfigMap")
        document = a_map()
        document["metadata"]["namespace"] = "default"
        with pytest.raises(ApiError, match="try again") as refused:
            client.create(maps, document)
        assert refused.value.code == 503
        made = await until_made(lambda: client.create(maps, document))
        assert made["metadata"]["labels"] == {"one": "x"}
        assert len(found.service.asked) == 1

    play({"one": labelled("one")}, story)


def test_without_a_running_loop_nobody_can_be_asked() -> None:
    async def story(found: Story) -> None:
        await found.configure(found.service.hook("yes"))
        document = a_map()
        document["metadata"]["namespace"] = "default"
        client = LocalClient(found.server, ADMINISTRATOR)
        maps = client.resource("v1", "ConfigMap")

        def create() -> None:
            with pytest.raises(ApiError, match="failed calling webhook"):
                client.create(maps, document)

        await asyncio.to_thread(create)

    play({"yes": yes}, story)


def test_collections_are_deleted_as_a_whole_or_not_at_all() -> None:
    async def story(found: Story) -> None:
        await found.ok("POST", MAPS, a_map("a"))
        await found.ok("POST", MAPS, a_map("b"))

        def keep_b(request: Document) -> Document:
            return {"allowed": request["name"] != "b"}

        found.service.replies["keep"] = keep_b
        await found.configure(found.service.hook("keep"))
        assert (await found.ask("DELETE", MAPS))[0] == 400
        assert len((await found.ok("GET", MAPS))["items"]) == 2

    play({}, story)


def test_configurations_themselves_are_never_asked_about() -> None:
    async def story(found: Story) -> None:
        rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}
        await found.configure(found.service.hook("no", rules=[rule]))
        assert (await found.ask("POST", MAPS, a_map()))[0] == 418
        await found.ok("DELETE", f"{GROUP}/validatingwebhookconfigurations/c")
        await found.ok("POST", MAPS, a_map())

    play({"no": no}, story)


def test_pods_that_are_bound_are_asked_about_too() -> None:
    async def story(found: Story) -> None:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/binding"], "operations": ["CREATE"]}
        await found.configure(found.service.hook("no", rules=[rule]))
        pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        pods = "/api/v1/namespaces/default/pods"
        await found.ok("POST", pods, pod)
        binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
        assert (await found.ask("POST", f"{pods}/a/binding", binding))[0] == 418
        assert found.service.asked[0][1]["kind"] == {"group": "", "version": "v1", "kind": "Binding"}

    play({"no": no}, story)
