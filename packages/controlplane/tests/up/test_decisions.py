"""/debug/decisions of a cluster in one process: the scheduler's decisions, for those who may get the path."""

import asyncio
import json
from typing import Any

import pytest
from packages.controlplane.tests.up.test_cluster import Document, Lived, a_node, a_pod, living

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.load import load
from kubesched.core.framework.building.registry import Registry
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, User
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.cluster import ClusterSpec, LocalCluster

PATH = "/debug/decisions"
VIEWER = User("viewer")


def ask(server: ApiServer, user: User, method: str = "GET", **query: str) -> tuple[int, Any]:
    parameters = {name: (value,) for name, value in query.items()}
    found = server.handle(Request(method, PATH, parameters, {}, b"", user))
    return found.code, json.loads(b"".join(found.chunks))  # type: ignore[union-attr]


def a_role(path: str) -> list[Document]:
    subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "viewer"}
    role_ref = {"kind": "ClusterRole", "apiGroup": "rbac.authorization.k8s.io", "name": "reads-decisions"}
    api = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "reads-decisions"}}
    return [
        {**api, "kind": "ClusterRole", "rules": [{"nonResourceURLs": [path], "verbs": ["get"]}]},
        {**api, "kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": role_ref},
    ]


def test_decisions_are_for_those_whom_a_role_lets_get_the_path() -> None:
    codes: list[int] = []

    async def story(lived: Lived) -> None:
        await lived.settled()
        codes.append(ask(lived.server, VIEWER)[0])
        lived.add(*a_role(PATH))
        code, page = ask(lived.server, VIEWER, pod="default/p")
        codes.append(code)
        (record,) = page["decisions"]
        assert (record["pod"], record["outcome"], record["node"]) == ("default/p", "bound", "n1")
        assert record["time"].startswith("2026-01-01T00:00:")
        codes.append(ask(lived.server, VIEWER, pod="p")[0])
        codes.append(ask(lived.server, ADMINISTRATOR, "POST")[0])
        assert len(ask(lived.server, ADMINISTRATOR)[1]["decisions"]) == 2

    living(story, a_node("n1"), a_pod("p"), a_pod("giant", cpu="64"))
    assert codes == [403, 200, 400, 405]


@pytest.mark.parametrize(("record_bytes", "code"), [(1 << 20, 200), (0, 404)])
def test_without_memory_there_is_no_page(record_bytes: int, code: int) -> None:
    async def run() -> int:
        server = ApiServer(access=lambda services: RoleBasedAccess(services, StaticTokens()))
        spec = ClusterSpec(load(None), Registry(), record_bytes=record_bytes)
        LocalCluster(Transport(server), spec, lambda line: None)
        await asyncio.sleep(0)
        return ask(server, ADMINISTRATOR)[0]

    assert run_in_virtual_time(run()) == code
