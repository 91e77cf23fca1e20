"""The living scheduler with extenders behind real sockets: good, slow, failing and lying ones. Nothing is lost."""

import asyncio

import pytest
from aiohttp import web
from tests.support.extender_service import Body, Cut, Reply, Service, extended, until
from tests.support.world import World

from kubesched.core.framework.values.effects import Bind
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod


def message(world: World, name: str) -> str:
    pod = world.pod(name)
    return "".join(condition.message for condition in pod.status.conditions) if pod is not None else ""


def everything(body: Body) -> Body:
    """Accept all nodes."""
    return {"NodeNames": body["NodeNames"]}


def binding(world: World) -> Reply:
    """Bind pods as asked."""

    async def bind(body: Body) -> Body:
        await world.perform(Bind(body["PodNamespace"], body["PodName"], body["PodUID"], body["Node"]))
        return {}

    return bind


# -- good ones


def test_all_verbs_have_their_say_on_the_way_of_a_pod() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        service.replies["bind"] = binding(world)
        for name in ("n1", "n2", "n3"):
            world.put(a_node(name, cpu="2"))
        world.put(a_pod("p", cpu="1"))
        await until(lambda: world.node_of("p"))
        assert service.verbs == ["filter", "prioritize", "bind"]
        assert service.asked[1][1]["NodeNames"] == ["n1", "n2"]

    replies = {
        "filter": lambda body: {"NodeNames": ["n1", "n2"], "FailedNodes": {"n3": "too far"}},
        "prioritize": lambda body: [{"Host": "n1", "Score": 1}, {"Host": "n2", "Score": 10}],
        "bind": lambda body: {},
    }
    world = extended(story, replies)
    assert world.bindings == {"default-p": "n2"}


def test_victims_are_chosen_by_the_extender() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="1"))
            world.put(a_pod(f"low-{name}", cpu="1", node=name))
        world.put(a_pod("high", cpu="1", priority=10))
        await until(lambda: world.node_of("high"))
        assert {name: victims["Pods"] for name, victims in service.asked[0][1]["NodeNameToMetaVictims"].items()} == {
            "n1": [{"UID": "default-low-n1"}],
            "n2": [{"UID": "default-low-n2"}],
        }

    replies = {"preempt": lambda body: {"NodeNameToMetaVictims": {"n2": body["NodeNameToMetaVictims"]["n2"]}}}
    world = extended(story, replies)
    assert (world.node_of("high"), world.evicted) == ("n2", ["low-n2"])


def test_who_asks_for_nothing_that_the_extender_manages_does_not_depend_on_it() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        await service.close()
        world.put(a_node("n1", allocatable={"example.com/gpu": "1"}))
        world.put(a_pod("learner", requests={"example.com/gpu": "1"}))
        world.put(a_pod("plain"))
        await until(lambda: world.node_of("plain"))
        assert world.node_of("learner") == ""
        await service.open()
        await until(lambda: world.node_of("learner"))

    managed = [{"name": "example.com/gpu"}]
    extended(story, {"filter": everything}, managedResources=managed)


# -- slow ones


def test_a_slow_answer_makes_its_pod_late_and_stops_nothing_else() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        beats = 0
        answer = asyncio.Event()

        async def slowly(body: Body) -> Body:
            await answer.wait()
            return everything(body)

        async def heart() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0.1)
                beats += 1

        service.replies["filter"] = slowly
        beating = asyncio.get_running_loop().create_task(heart())
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await until(lambda: service.asked)
        before = beats
        await until(lambda: beats >= before + 10)
        assert world.node_of("p") == ""
        answer.set()
        await until(lambda: world.node_of("p"))
        beating.cancel()

    extended(story, {"filter": everything})


@pytest.mark.parametrize("verb", ["filter", "bind"])
def test_an_answer_that_does_not_come_fails_the_attempt_and_the_pod_is_tried_again(verb: str) -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        silent = asyncio.Event()

        async def silence(body: Body) -> Body:
            await silent.wait()
            return {}

        service.replies[verb] = silence
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await until(lambda: service.verbs.count(verb) >= 2)
        await until(lambda: f"/{verb} did not answer within 2s" in message(world, "p"))
        service.replies[verb] = everything if verb == "filter" else binding(world)
        await until(lambda: world.node_of("p"))
        silent.set()

    world = extended(story, {verb: everything}, httpTimeout="2s")
    assert world.bindings == {"default-p": "n1"}


# -- failing ones


FAILURES = [
    pytest.param(lambda body: web.Response(status=503), "code 503", id="it is overloaded"),
    pytest.param(lambda body: Cut(), "cannot be reached", id="the connection is cut"),
    pytest.param(lambda body: web.Response(text="<html>"), "something else than {verb} needs", id="it is no JSON"),
    pytest.param(lambda body: web.Response(text=""), "something else than {verb} needs", id="it is empty"),
    pytest.param(lambda body: ["n1"], "something else than {verb} needs", id="it has another shape"),
    pytest.param(lambda body: {"Error": 5}, "something else than {verb} needs", id="a field has another type"),
    pytest.param(lambda body: {"Error": "no idea"}, "no idea", id="it says that it failed"),
]


@pytest.mark.parametrize("verb", ["filter", "bind"])
@pytest.mark.parametrize(("failure", "said"), FAILURES)
def test_a_failure_fails_the_attempt_and_the_pod_is_tried_again(verb: str, failure: Reply, said: str) -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await until(lambda: service.verbs.count(verb) >= 2)
        await until(lambda: said.format(verb=verb) in message(world, "p"))
        service.replies[verb] = everything if verb == "filter" else binding(world)
        await until(lambda: world.node_of("p"))

    world = extended(story, {verb: failure})
    assert world.bindings == {"default-p": "n1"}
    failures = [event for event in world.events if event.reason == "FailedScheduling"]
    assert failures


def test_an_extender_that_is_not_there_is_waited_for() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        await service.close()
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await until(lambda: "/filter cannot be reached" in message(world, "p"))
        await service.open()
        await until(lambda: world.node_of("p"))

    extended(story, {"filter": everything})


@pytest.mark.parametrize("verb", ["filter", "prioritize", "bind"])
@pytest.mark.parametrize(("failure", "said"), FAILURES)
def test_an_ignorable_extender_that_fails_is_passed_over(verb: str, failure: Reply, said: str) -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await until(lambda: world.node_of("p"))
        assert service.verbs[0] == verb

    world = extended(story, {verb: failure}, ignorable=True)
    assert [event.reason for event in world.events] == ["Scheduled"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda body: web.Response(status=503), id="it fails"),
        pytest.param(lambda body: {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "nobody"}]}}}, id="it lies"),
    ],
)
def test_an_ignorable_extender_is_passed_over_in_preemption(answer: Reply) -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", node="n1"))
        world.put(a_pod("high", cpu="1", priority=10))
        await until(lambda: world.node_of("high"))
        assert service.verbs == ["preempt"]

    assert extended(story, {"preempt": answer}, ignorable=True).evicted == ["low"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda body: web.Response(status=503),
        lambda body: {"Host": "n1", "Score": 1},
        lambda body: [{"Host": "n1", "Score": "much"}],
        lambda body: [{"Host": "nowhere", "Score": 10}, {"Host": "n3", "Score": 10}],
        lambda body: [{"Host": "n1", "Score": 2**63}],
        lambda body: [{"Host": "n1", "Score": 2**62}],
        lambda body: [{"Host": "n1", "Score": -(2**63)}],
        lambda body: None,
    ],
)
def test_scores_that_make_no_sense_fail_nobody(answer: Reply) -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="1"))
        world.put(a_node("n3", cpu="1", unschedulable=True))
        for number in range(3):
            world.put(a_pod(f"p{number}", cpu="1"))
        await until(lambda: len(world.bindings) == 2)

    world = extended(story, {"prioritize": answer})
    assert sorted(world.bindings.values()) == ["n1", "n2"]


# -- lying ones


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param({"NodeNames": ["nowhere"]}, 'claims a filtered node "nowhere"', id="a node that does not exist"),
        pytest.param({"NodeNames": ["n1", "n2"]}, 'claims a filtered node "n2"', id="a node it was not asked about"),
        pytest.param(
            {"FailedNodes": {"n1": "full"}, "FailedAndUnresolvableNodes": {"n1": "wrong"}}, "1 wrong", id="both maps"
        ),
        pytest.param({"FailedNodes": {"n1": "full", "nowhere": "?"}}, "1 full", id="failed nodes that do not exist"),
        pytest.param({"NodeNames": []}, "0/2 nodes are available", id="no node and no reason"),
        pytest.param({}, "0/2 nodes are available", id="nothing at all"),
    ],
)
def test_a_lie_about_nodes_loses_no_pod(answer: Body, said: str) -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_node("n2", cpu="2", unschedulable=True))
        world.put(a_pod("low", cpu="1", node="n1"))
        world.put(a_pod("p", cpu="1", priority=10))
        await until(lambda: said in message(world, "p"))
        service.replies["filter"] = everything
        # what an extender needs nobody knows: any event will do
        world.put(a_node("n1", cpu="2", labels={"changed": "yes"}))
        await until(lambda: world.node_of("p"))

    world = extended(story, {"filter": lambda body: answer})
    assert (world.node_of("p"), world.evicted) == ("n1", [])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(
            {"n1": ["default-elsewhere"]}, "but the pod is not found on that node", id="a pod of another node"
        ),
        pytest.param({"n1": ["nobody"]}, "but the pod is not found on that node", id="a pod that does not exist"),
        pytest.param(
            {"nowhere": ["default-low"]}, 'not found for node name "nowhere"', id="a node that does not exist"
        ),
        pytest.param({"ghost": ["default-lost"]}, 'not found for node name "ghost"', id="a node without its object"),
        pytest.param({"n1": []}, "expected at least one victim", id="nobody"),
        pytest.param({}, "no new claims to deallocate, preemption: no candidate node for preemption", id="no node"),
    ],
)
def test_a_lie_about_victims_evicts_nobody(answer: dict[str, list[str]], said: str) -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_node("n2", cpu="1", unschedulable=True))
        world.put(a_pod("low", cpu="1", node="n1"))
        world.put(a_pod("elsewhere", cpu="1", node="n2"))
        world.put(a_pod("lost", cpu="1", node="ghost"))
        world.put(a_pod("high", cpu="1", priority=10))
        await until(lambda: said in message(world, "high"))
        assert world.evicted == []
        service.replies["preempt"] = lambda body: {"NodeNameToMetaVictims": body["NodeNameToMetaVictims"]}
        world.delete("Pod", "default/elsewhere")
        await until(lambda: world.node_of("high"))

    named = {name: {"Pods": [{"UID": uid} for uid in uids]} for name, uids in answer.items()}
    world = extended(story, {"preempt": lambda body: {"NodeNameToMetaVictims": named}})
    assert world.evicted == ["low"]


def test_victims_in_any_order_are_weighed_alike() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="2"))
        world.put(a_pod("important", cpu="1", node="n1", priority=9))
        world.put(a_pod("cheap", cpu="1", node="n1"))
        world.put(a_pod("middling", cpu="2", node="n2", priority=5))
        world.put(a_pod("high", cpu="2", priority=10))
        await until(lambda: world.node_of("high"))

    def turned(body: Body) -> Body:
        victims = body["NodeNameToMetaVictims"]
        return {"NodeNameToMetaVictims": {name: {"Pods": asked["Pods"][::-1]} for name, asked in victims.items()}}

    assert extended(story, {"preempt": turned}).evicted == ["middling"]


def test_a_pod_that_is_said_to_be_bound_and_is_not_is_not_lost() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await until(lambda: service.verbs.count("bind") >= 2, 60)
        service.replies["bind"] = binding(world)
        await until(lambda: world.node_of("p"))

    assert extended(story, {"bind": lambda body: {}}).bindings == {"default-p": "n1"}


def test_a_pod_that_is_said_not_to_be_bound_and_is_keeps_its_place() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        async def denial(body: Body) -> Body:
            world.report_seconds = lambda: 5.0
            await binding(world)(body)
            return {"Error": "it was not me"}

        service.replies["bind"] = denial
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1", priority=1))
        world.put(a_pod("q", cpu="1"))
        await until(lambda: world.node_of("p"))
        reported = scheduler.now() + 6
        await until(lambda: scheduler.now() > reported)

    assert extended(story, {"bind": lambda body: {}}).bindings == {"default-p": "n1"}


def test_a_pod_that_is_bound_elsewhere_counts_where_it_is() -> None:
    async def story(world: World, scheduler: Scheduler, service: Service) -> None:
        service.replies["bind"] = lambda body: binding(world)({**body, "Node": "n2"})
        world.put(a_node("n1", cpu="1"))
        world.put(a_node("n2", cpu="1", unschedulable=True))
        world.put(a_pod("p", cpu="1"))
        await until(lambda: world.node_of("p"))
        service.replies["bind"] = binding(world)
        world.put(a_pod("q", cpu="1"))
        await until(lambda: world.node_of("q"))

    assert extended(story, {"bind": lambda body: {}}).bindings == {"default-p": "n2", "default-q": "n1"}
