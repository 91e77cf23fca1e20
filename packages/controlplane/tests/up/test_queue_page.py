"""/debug/queue of a cluster in one process: the scheduler's queue, for those who may get the path."""

from packages.controlplane.tests.up.test_cluster import Lived, a_node, a_pod, living
from packages.controlplane.tests.up.test_decisions import VIEWER

from kubesched.serving.queue.records import PATH, read_queue_page
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, User


def test_the_queue_is_served() -> None:
    def ask(lived: Lived, user: User, method: str = "GET") -> tuple[int, bytes]:
        found = lived.server.handle(Request(method, PATH, {}, {}, b"", user))
        return found.code, b"".join(found.chunks)  # type: ignore[union-attr]

    async def story(lived: Lived) -> None:
        await lived.settled()
        code, body = ask(lived, ADMINISTRATOR)
        assert code == 200
        page = read_queue_page(body)
        assert page.counts == {"active": 0, "backoff": 0, "unschedulable": 1, "gated": 0, "inFlight": 0}
        (waiting,) = page.first
        assert (waiting.pod, waiting.attempts, waiting.rejected_by) == ("default/giant", 1, ("NodeResourcesFit",))
        assert waiting.since is not None
        assert waiting.since.isoformat().startswith("2026-01-01T00:00:")
        assert [ask(lived, VIEWER)[0], ask(lived, ADMINISTRATOR, "POST")[0]] == [403, 405]

    living(story, a_node("n1"), a_pod("p"), a_pod("giant", cpu="64"))
