"""/configz of a cluster in one process: the configuration in force, for those who may get the path."""

import msgspec
from packages.controlplane.tests.up.test_cluster import Lived, a_node, living
from packages.controlplane.tests.up.test_decisions import VIEWER

from kubesched.config.load import load
from kubesched.sources.scheduler_configuration import FIELD, PATH
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, User


def test_the_configuration_is_served() -> None:
    def ask(lived: Lived, user: User, method: str = "GET") -> tuple[int, bytes]:
        found = lived.server.handle(Request(method, PATH, {}, {}, b"", user))
        return found.code, b"".join(found.chunks)  # type: ignore[union-attr]

    async def story(lived: Lived) -> None:
        code, body = ask(lived, ADMINISTRATOR)
        assert code == 200
        told = load(msgspec.json.encode(msgspec.json.decode(body)[FIELD]))
        assert told.config == load(None).config
        assert [ask(lived, VIEWER)[0], ask(lived, ADMINISTRATOR, "POST")[0]] == [403, 405]

    living(story, a_node("n1"))
