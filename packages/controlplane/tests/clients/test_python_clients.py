"""Python's Kubernetes clients against the server: clients that know nothing of us.

Each story is told to both, the official client and kubernetes_asyncio: what one answers at once, the other lets be
awaited.
"""

import asyncio
import inspect
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import kubernetes
import kubernetes_asyncio
import pytest
from kubernetes.dynamic import DynamicClient
from kubernetes.leaderelection.electionconfig import Config as BlockingConfig
from kubernetes.leaderelection.leaderelection import LeaderElection as BlockingElection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock as BlockingLock
from kubernetes_asyncio.leaderelection.electionconfig import Config as AwaitedConfig
from kubernetes_asyncio.leaderelection.leaderelection import LeaderElection as AwaitedElection
from kubernetes_asyncio.leaderelection.resourcelock.leaselock import LeaseLock as AwaitedLock
from tests.support.control_plane import Process, a_control_plane

# the clients leave sockets to the garbage collector
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECONDS = 60.0
# changes that a watch can resume from
HISTORY = 40
MERGE_PATCH, STRATEGIC_MERGE_PATCH = "application/merge-patch+json", "application/strategic-merge-patch+json"
INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}

_numbers = count()


class Library:
    """A client library; `api` is its CoreV1Api, in a namespace of its own."""

    def __init__(self, library: Any, client: Any) -> None:
        self.library = library
        self.client = client
        self.api = library.client.CoreV1Api(client)
        self.namespace = f"team-{next(_numbers)}"

    async def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Return what a method of the API gives."""
        return await _awaited(getattr(self.api, method)(*arguments, **options))

    async def create_pod(self, name: str, **meta: Any) -> Any:
        """Create a pod, and return it."""
        client = self.library.client
        spec = client.V1PodSpec(containers=[client.V1Container(name="c", image="nginx")])
        pod = client.V1Pod(metadata=client.V1ObjectMeta(name=name, **meta), spec=spec)
        return await self.call("create_namespaced_pod", self.namespace, pod)

    async def pods(self, **options: Any) -> Any:
        """Return a list of the pods in the namespace."""
        return await self.call("list_namespaced_pod", self.namespace, **options)

    async def bind(self, pod: str, node: str, **meta: Any) -> int:
        """Bind a pod; return the code of the answer."""
        client = self.library.client
        body = client.V1Binding(
            metadata=client.V1ObjectMeta(name=pod, **meta), target=client.V1ObjectReference(kind="Node", name=node)
        )
        # the answer is a Status, which the clients would take for a Binding
        answer = await self.call("create_namespaced_pod_binding", pod, self.namespace, body, _preload_content=False)
        status = int(answer.status)
        await _awaited(answer.read())
        return status

    async def events(self, wanted: int, **options: Any) -> list[tuple[str, Any]]:
        """Return the first events of a watch of the pods in the namespace, as types and objects."""
        watch = self.library.watch.Watch()
        stream = watch.stream(self.api.list_namespaced_pod, self.namespace, **options)
        found: list[tuple[str, Any]] = []
        async with asyncio.timeout(SECONDS):
            async for event in _each(stream):
                found.append((event["type"], event["raw_object"]))
                if len(found) == wanted:
                    watch.stop()
                    break
        if hasattr(watch, "close"):
            await watch.close()
        return found

    async def refused(self, calling: Awaitable[Any]) -> tuple[int, str, str]:
        """Return code, reason and message of a refusal."""
        with pytest.raises(self.library.client.ApiException) as caught:
            await calling
        status = json.loads(caught.value.body)
        assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", caught.value.status)
        return caught.value.status, status["reason"], status["message"]


async def _awaited(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


async def _each(stream: Any) -> AsyncIterator[Any]:
    """Go through what one client gives one by one, and the other asynchronously."""
    if hasattr(stream, "__aiter__"):
        async for each in stream:
            yield each
    else:
        for each in stream:
            yield each


@asynccontextmanager
async def _client(library: Any, kubeconfig: Path) -> AsyncIterator[Any]:
    client = await _awaited(library.config.new_client_from_config(str(kubeconfig)))
    try:
        yield client
    finally:
        await _awaited(client.close())
        _abort_connections()


def _abort_connections() -> None:
    """Abort the connections of a watch that was broken off: waiting for TLS to end, they would outlive the loop."""
    for transport in list(asyncio.get_running_loop()._transports.values()):  # type: ignore[attr-defined]
        transport.abort()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("control-plane")
    flags = ["--kubeconfig", str(folder / "admin"), "--scheduler-kubeconfig", str(folder / "scheduler")]
    with a_control_plane(*flags, "--no-simulate", "--history", str(HISTORY)) as process:
        yield process
        code, _, err = process.end()
        assert (code, err) == (0, ""), "nothing went wrong inside"


Story = Callable[[Library], Awaitable[None]]
Tell = Callable[[Story], None]


@pytest.fixture(params=[kubernetes, kubernetes_asyncio], ids=["official", "asyncio"])
def tell(request: pytest.FixtureRequest, server: Process) -> Tell:
    """Return how to tell a story to a client with a namespace of its own."""

    def told(story: Story) -> None:
        async def play() -> None:
            async with _client(request.param, server.kubeconfig) as client:
                library = Library(request.param, client)
                await library.call("create_namespace", {"metadata": {"name": library.namespace}})
                await story(library)

        asyncio.run(play())

    return told


def names(listed: Any) -> list[str]:
    return [item.metadata.name for item in listed.items]


# -- reading


def test_lists_are_selected_and_read_in_pages(tell: Tell) -> None:
    async def story(library: Library) -> None:
        for name in ("a", "b", "c", "d"):
            await library.create_pod(name, labels={"app": "web" if name < "c" else "db"})
        assert names(await library.pods()) == ["a", "b", "c", "d"]
        assert names(await library.pods(label_selector="app in (db)")) == ["c", "d"]
        assert names(await library.pods(field_selector="metadata.name!=a,spec.nodeName=")) == ["b", "c", "d"]
        first = await library.pods(limit=3)
        assert (names(first), first.metadata.remaining_item_count) == (["a", "b", "c"], 1)
        await library.create_pod("e")
        second = await library.pods(limit=3, _continue=first.metadata._continue)
        assert (names(second), second.metadata._continue) == (["d"], None), "pages are of one moment"
        assert second.metadata.resource_version == first.metadata.resource_version
        everywhere = await library.call("list_pod_for_all_namespaces", resource_version="0")
        assert {"a", "e"} <= set(names(everywhere))
        pod = await library.call("read_namespaced_pod", "a", library.namespace)
        assert (pod.status.phase, pod.spec.restart_policy, pod.metadata.uid != "") == ("Pending", "Always", True)

    tell(story)


def test_refusals_are_what_clients_expect(tell: Tell) -> None:
    async def story(library: Library) -> None:
        space = library.namespace
        refused, call = library.refused, library.call
        assert await refused(call("read_namespaced_pod", "x", space)) == (404, "NotFound", 'pods "x" not found')
        await library.create_pod("p")
        assert (await refused(library.create_pod("p")))[:2] == (409, "AlreadyExists")
        assert (await refused(library.create_pod("P_")))[:2] == (422, "Invalid")
        assert (await refused(library.pods(label_selector="a in")))[:2] == (400, "BadRequest")
        assert (await refused(library.pods(resource_version="999999999")))[:2] == (504, "Timeout")
        stale = {"metadata": {"name": "p", "resourceVersion": "1"}, "spec": {"containers": []}}
        assert (await refused(call("replace_namespaced_pod", "p", space, stale)))[:2] == (409, "Conflict")

    tell(story)


# -- watching


def test_a_watch_goes_on_where_a_list_ended(tell: Tell) -> None:
    async def story(library: Library) -> None:
        await library.create_pod("before")
        listed = await library.pods()
        pod = await library.create_pod("p")
        await library.call("patch_namespaced_pod", "p", library.namespace, {"metadata": {"labels": {"a": "b"}}})
        await library.call("delete_namespaced_pod", "p", library.namespace)
        events = await library.events(4, resource_version=listed.metadata.resource_version)
        # a pod that is deleted is marked first, and gone then
        assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"]
        assert {event["metadata"]["uid"] for _, event in events} == {pod.metadata.uid}
        versions = [int(event["metadata"]["resourceVersion"]) for _, event in events]
        assert versions == sorted(set(versions))
        assert versions[0] == int(pod.metadata.resource_version)

    tell(story)


def test_a_watch_by_labels_tells_who_comes_and_who_goes(tell: Tell) -> None:
    async def story(library: Library) -> None:
        version = (await library.pods()).metadata.resource_version
        await library.create_pod("p")
        for value in ("yes", "no", "yes"):
            await library.call("patch_namespaced_pod", "p", library.namespace, {"metadata": {"labels": {"in": value}}})
        events = await library.events(3, resource_version=version, label_selector="in=yes")
        assert [kind for kind, _ in events] == ["ADDED", "DELETED", "ADDED"]

    tell(story)


def test_a_watch_begins_with_what_is_there_and_says_when_that_was_all(tell: Tell) -> None:
    async def story(library: Library) -> None:
        for name in ("a", "b"):
            await library.create_pod(name)
        events = await library.events(
            3, send_initial_events=True, resource_version_match="NotOlderThan", allow_watch_bookmarks=True
        )
        assert [kind for kind, _ in events] == ["ADDED", "ADDED", "BOOKMARK"]
        mark = events[-1][1]
        assert (mark["kind"], mark["metadata"]["annotations"]) == ("Pod", INITIAL_EVENTS_END)
        await library.create_pod("c")
        events = await library.events(1, resource_version=mark["metadata"]["resourceVersion"])
        assert [(kind, event["metadata"]["name"]) for kind, event in events] == [("ADDED", "c")]

    tell(story)


def test_a_watch_ends_when_it_should_with_a_bookmark(tell: Tell) -> None:
    async def story(library: Library) -> None:
        version = (await library.pods()).metadata.resource_version
        found = await library.events(9, resource_version=version, allow_watch_bookmarks=True, timeout_seconds=1)
        assert [kind for kind, _ in found] == ["BOOKMARK"]
        assert int(found[0][1]["metadata"]["resourceVersion"]) >= int(version)

    tell(story)


def test_a_version_that_is_forgotten_gets_410_and_a_list_helps(tell: Tell) -> None:
    async def story(library: Library) -> None:
        await library.create_pod("p")
        old = (await library.pods()).metadata.resource_version
        for number in range(HISTORY + 1):
            change = {"metadata": {"annotations": {"number": str(number)}}}
            await library.call("patch_namespaced_pod", "p", library.namespace, change)
        with pytest.raises(library.library.client.ApiException) as caught:
            await library.events(1, resource_version=old)
        assert caught.value.status == 410
        assert caught.value.reason.startswith(f"Expired: too old resource version: {old} (")
        version = (await library.pods()).metadata.resource_version
        await library.create_pod("q")
        assert [kind for kind, _ in await library.events(1, resource_version=version)] == ["ADDED"]

    tell(story)


def test_the_official_informer_keeps_up(server: Process) -> None:
    informer_module = pytest.importorskip("kubernetes.informer")

    async def story() -> None:
        async with _client(kubernetes, server.kubeconfig) as client:
            library = Library(kubernetes, client)
            await library.call("create_namespace", {"metadata": {"name": library.namespace}})
            await library.create_pod("a")
            informer = informer_module.SharedInformer(library.api.list_namespaced_pod, namespace=library.namespace)
            seen: list[tuple[str, str]] = []
            gone, listed = threading.Event(), threading.Event()
            for kind in ("ADDED", "MODIFIED"):
                informer.add_event_handler(kind, lambda pod, kind=kind: seen.append((kind, pod.metadata.name)))
            informer.add_event_handler("ADDED", lambda pod: listed.set())
            informer.add_event_handler("DELETED", lambda pod: gone.set())
            informer.start()
            try:
                # a pod that comes and goes before the informer lists pods is never seen
                assert listed.wait(SECONDS)
                await library.create_pod("b")
                await library.call("delete_namespaced_pod", "b", library.namespace)
                assert gone.wait(SECONDS)
            finally:
                informer.stop()
            assert {name for kind, name in seen if kind == "ADDED"} == {"a", "b"}
            assert [pod.metadata.name for pod in informer.cache.list()] == ["a"]

    asyncio.run(story())


# -- writing


def test_patches_of_all_kinds(tell: Tell) -> None:
    async def story(library: Library) -> None:
        await library.create_pod("p", labels={"a": "1", "b": "2"})

        async def patch(change: Any, method: str = "patch_namespaced_pod", **options: Any) -> Any:
            return await library.call(method, "p", library.namespace, change, **options)

        pod = await patch([{"op": "replace", "path": "/metadata/labels/a", "value": "3"}])
        assert pod.metadata.labels == {"a": "3", "b": "2"}
        pod = await patch({"metadata": {"labels": {"b": None}}}, _content_type=MERGE_PATCH)
        assert pod.metadata.labels == {"a": "3"}
        change = {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}
        pod = await patch(change, _content_type=STRATEGIC_MERGE_PATCH)
        assert [(each.name, each.image) for each in pod.spec.containers] == [("c", "nginx:2")]
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
        status = {"status": {"conditions": [condition], "nominatedNodeName": "n"}}
        pod = await patch(status, "patch_namespaced_pod_status", _content_type=STRATEGIC_MERGE_PATCH)
        assert (pod.status.conditions[0].reason, pod.status.nominated_node_name) == ("Unschedulable", "n")
        other = {**condition, "type": "Other"}
        pod = await patch(
            {"status": {"conditions": [other]}}, "patch_namespaced_pod_status", _content_type=STRATEGIC_MERGE_PATCH
        )
        assert {each.type for each in pod.status.conditions} == {"PodScheduled", "Other"}, "merged by their types"
        pod = await patch({"status": {"conditions": [other]}}, "patch_namespaced_pod_status", _content_type=MERGE_PATCH)
        assert [each.type for each in pod.status.conditions] == ["Other"], "replaced as a whole"
        wrong = [{"op": "test", "path": "/metadata/labels/a", "value": "0"}]
        assert (await library.refused(patch(wrong)))[:2] == (422, "Invalid")

    tell(story)


def test_pods_are_bound_once(tell: Tell) -> None:
    async def story(library: Library) -> None:
        node, space = f"node-of-{library.namespace}", library.namespace
        labels = {"topology.kubernetes.io/zone": "z1"}
        await library.call("create_node", {"metadata": {"name": node, "labels": labels}})
        pod = await library.create_pod("p")
        assert await library.bind("p", node, uid=pod.metadata.uid, annotations={"by": "me"}) == 201
        bound = await library.call("read_namespaced_pod", "p", space)
        assert (bound.spec.node_name, bound.metadata.annotations) == (node, {"by": "me"})
        assert bound.metadata.labels == labels
        assert [(each.type, each.status) for each in bound.status.conditions] == [("PodScheduled", "True")]
        assert names(await library.pods(field_selector=f"spec.nodeName={node}")) == ["p"]
        client = library.library.client
        body = client.V1Binding(
            metadata=client.V1ObjectMeta(name="p"), target=client.V1ObjectReference(kind="Node", name=node)
        )
        again = library.call("create_namespaced_binding", space, body)
        code, reason, message = await library.refused(again)
        assert (code, reason) == (409, "Conflict")
        assert message == (
            f'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "{node}"'
        )

    tell(story)


def test_objects_are_deleted_with_care(tell: Tell) -> None:
    async def story(library: Library) -> None:
        space, call = library.namespace, library.call
        await library.create_pod("p")
        wrong = {"preconditions": {"uid": "another"}}
        assert (await library.refused(call("delete_namespaced_pod", "p", space, body=wrong)))[:2] == (409, "Conflict")
        await call("create_node", {"metadata": {"name": f"node-of-{space}"}})
        await library.bind("p", f"node-of-{space}")
        going = await call("delete_namespaced_pod", "p", space, grace_period_seconds=30)
        assert (going.metadata.deletion_grace_period_seconds, going.metadata.deletion_timestamp is None) == (30, False)
        await call("delete_namespaced_pod", "p", space, grace_period_seconds=0)
        assert (await library.refused(call("read_namespaced_pod", "p", space)))[:2] == (404, "NotFound")
        for name in ("a", "b", "c"):
            await library.create_pod(name, labels={"go": "no" if name == "b" else "yes"})
        await call("delete_collection_namespaced_pod", space, label_selector="go=yes")
        assert names(await library.pods()) == ["b"]

    tell(story)


def test_events_are_of_both_groups(tell: Tell) -> None:
    async def story(library: Library) -> None:
        client, space = library.library.client, library.namespace
        events = client.EventsV1Api(library.client)
        regarding = {"kind": "Pod", "namespace": space, "name": "p"}
        event = {
            "metadata": {"name": "p.1", "namespace": space},
            # the official client leaves out microseconds that are zero, which no server takes
            "eventTime": "2026-01-01T00:00:00.000001Z",
            "reportingController": "default-scheduler",
            "reportingInstance": "me",
            "action": "Binding",
            "reason": "Scheduled",
            "regarding": regarding,
            "note": "assigned",
            "type": "Normal",
        }
        await _awaited(events.create_namespaced_event(space, event))
        found = await library.call("list_namespaced_event", space, field_selector="involvedObject.name=p")
        assert [(each.reason, each.message) for each in found.items] == [("Scheduled", "assigned")]
        found = await _awaited(events.list_namespaced_event(space))
        assert [(each.note, each.regarding.name) for each in found.items] == [("assigned", "p")]

    tell(story)


def test_the_dynamic_client_finds_its_way_by_discovery(server: Process) -> None:
    async def story() -> None:
        async with _client(kubernetes, server.kubeconfig) as client:
            dynamic = DynamicClient(client)
            classes = dynamic.resources.get(api_version="scheduling.k8s.io/v1", kind="PriorityClass")
            made = classes.create(body={"metadata": {"name": "dynamic"}, "value": 7})
            assert (made.value, made.preemptionPolicy) == (7, "PreemptLowerPriority")
            assert "dynamic" in [each.metadata.name for each in classes.get().items]
            classes.delete(name="dynamic")
            assert dynamic.resources.get(api_version="v1", kind="Node").namespaced is False
            assert dynamic.version["kubernetes"]["minor"] == "36"

    asyncio.run(story())


def test_a_scheduler_may_do_what_its_roles_allow(server: Process) -> None:
    async def story() -> None:
        async with (
            _client(kubernetes_asyncio, server.kubeconfig) as admin,
            _client(kubernetes_asyncio, server.kubeconfig.with_name("scheduler")) as scheduler,
        ):
            theirs, ours = Library(kubernetes_asyncio, admin), Library(kubernetes_asyncio, scheduler)
            ours.namespace = theirs.namespace
            await theirs.call("create_namespace", {"metadata": {"name": theirs.namespace}})
            await theirs.call("create_node", {"metadata": {"name": "of-the-scheduler"}})
            await theirs.create_pod("p")
            assert names(await ours.pods()) == ["p"]
            assert await ours.bind("p", "of-the-scheduler") == 201
            code, reason, message = await ours.refused(ours.create_pod("q"))
            assert (code, reason) == (403, "Forbidden")
            assert message.startswith('pods is forbidden: User "system:kube-scheduler" cannot create resource "pods"')
            assert (await ours.refused(ours.call("list_namespaced_secret", ours.namespace)))[0] == 403
            await ours.call("delete_namespaced_pod", "p", ours.namespace, grace_period_seconds=0)

    asyncio.run(story())


# -- leader election


def _hurried(config: Any) -> Any:
    """Return an election's configuration with periods shorter than it would let itself be made with."""
    config.lease_duration, config.renew_deadline, config.retry_period = 1, 0.5, 0.05
    return config


def _holder(server: Process, name: str) -> str:
    client = kubernetes.config.new_client_from_config(str(server.kubeconfig))
    lease = kubernetes.client.CoordinationV1Api(client).read_namespaced_lease(name, "default")
    assert lease.spec is not None
    return str(lease.spec.holder_identity)


class _Blocking:
    """A candidate of the official client: it stops when what it leads fails."""

    def __init__(self, identity: str) -> None:
        self.leads, self.stop, self.stopped = threading.Event(), threading.Event(), threading.Event()
        lock = BlockingLock("official", "default", identity)
        config = BlockingConfig(lock, 17, 15, 5, self._lead, self.stopped.set)
        self.election = BlockingElection(_hurried(config))
        threading.Thread(target=self.election.run, daemon=True).start()

    def _lead(self) -> None:
        self.leads.set()
        self.stop.wait(SECONDS)
        raise RuntimeError("told to stop")


def test_the_official_client_elects_one_leader_and_then_another(server: Process) -> None:
    kubernetes.config.load_kube_config(str(server.kubeconfig))
    first = _Blocking("first")
    assert first.leads.wait(SECONDS)
    second = _Blocking("second")
    deadline = time.monotonic() + SECONDS
    while second.election.observed_record is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert (_holder(server, "official"), second.leads.is_set()) == ("first", False)
    first.stop.set()
    assert first.stopped.wait(SECONDS)
    assert second.leads.wait(SECONDS)
    assert _holder(server, "official") == "second"
    second.stop.set()
    assert second.stopped.wait(SECONDS)


def test_kubernetes_asyncio_elects_one_leader_and_then_another(server: Process) -> None:
    async def story() -> None:
        async with _client(kubernetes_asyncio, server.kubeconfig) as client, asyncio.timeout(SECONDS):
            elections, leads = {}, {}
            for identity in ("first", "second"):
                leads[identity] = led = asyncio.Event()

                async def lead(led: asyncio.Event = led) -> None:
                    led.set()

                lock = AwaitedLock("asyncio", "default", identity, client)
                config = AwaitedConfig(lock, 17, 15, 5, lead, None)  # type: ignore[arg-type]
                elections[identity] = AwaitedElection(_hurried(config))
            first = asyncio.create_task(elections["first"].run())
            await leads["first"].wait()
            second = asyncio.create_task(elections["second"].run())
            while elections["second"].observed_record is None:
                await asyncio.sleep(0.01)
            assert (_holder(server, "asyncio"), leads["second"].is_set()) == ("first", False)
            first.cancel()
            await leads["second"].wait()
            assert _holder(server, "asyncio") == "second"
            second.cancel()
            await asyncio.wait([first, second])

    asyncio.run(story())
