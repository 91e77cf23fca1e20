"""What only a node, a pod or whoever is behind a service could answer: it is refused, and everybody is told why."""

from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.good_objects import an_api

from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.requests import User
from kubesched_controlplane.server.server import ApiServer

SPACE = "/api/v1/namespaces/default"
ONE, TWO, UNBOUND = f"{SPACE}/pods/one", f"{SPACE}/pods/two", f"{SPACE}/pods/unbound"


def a_pod(name: str, *containers: str, **spec: Any) -> dict[str, Any]:
    found = [{"name": container, "image": "i"} for container in containers]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": found, **spec}}


@pytest.fixture
def api() -> Asking:
    api = an_api()
    init = [{"name": "init", "image": "i"}]
    api.ok("POST", f"{SPACE}/pods", a_pod("one", "c", nodeName="n1"))
    api.ok("POST", f"{SPACE}/pods", a_pod("two", "c", "d", nodeName="n1", initContainers=init))
    api.ok("POST", f"{SPACE}/pods", a_pod("unbound", "c"))
    api.ok("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    api.ok("POST", f"{SPACE}/services", service)
    return api


SIMULATED = "pod one is on the simulated node n1: nothing runs in it, so "
REFUSED = [
    ("GET", f"{ONE}/log", {}, 400, f"{SIMULATED}there are no logs"),
    ("GET", f"{ONE}/log", {"follow": "true", "container": "c"}, 400, f"{SIMULATED}there are no logs"),
    ("POST", f"{ONE}/exec", {"command": "ls"}, 400, f"{SIMULATED}no command can be executed"),
    ("GET", f"{ONE}/exec", {"command": "ls"}, 400, f"{SIMULATED}no command can be executed"),
    ("POST", f"{ONE}/attach", {}, 400, f"{SIMULATED}there is nothing to attach to"),
    ("POST", f"{ONE}/portforward", {}, 400, f"{SIMULATED}there are no ports to forward to"),
    ("GET", f"{ONE}/proxy", {}, 400, f"{SIMULATED}there is nobody to answer"),
    ("PUT", f"{ONE}/proxy/some/path", {}, 400, f"{SIMULATED}there is nobody to answer"),
    ("GET", f"{ONE}/log", {"container": "x"}, 400, "container x is not valid for pod one"),
    ("POST", f"{TWO}/exec", {}, 400, "a container name must be specified for pod two, choose one of: [init c d]"),
    ("POST", f"{UNBOUND}/exec", {}, 400, "pod unbound does not have a host assigned"),
    ("GET", f"{SPACE}/pods/none/log", {}, 404, 'pods "none" not found'),
    ("DELETE", f"{ONE}/log", {}, 405, "the server does not allow this method on the requested resource"),
    (
        "GET",
        "/api/v1/nodes/n1/proxy/stats/summary",
        {},
        400,
        "node n1 is simulated: nothing runs on it, so there is nobody to answer",
    ),
    ("GET", "/api/v1/nodes/n9/proxy", {}, 404, 'nodes "n9" not found'),
    ("GET", f"{SPACE}/services/web/proxy/", {}, 503, 'no endpoints available for service "web"'),
    ("GET", f"{SPACE}/services/http:web:80/proxy", {}, 503, 'no endpoints available for service "http:web:80"'),
    ("GET", f"{SPACE}/services/none/proxy", {}, 404, 'services "none" not found'),
    ("GET", f"{ONE}/status/more", {}, 404, "the server could not find the requested resource"),
]


@pytest.mark.parametrize(("method", "path", "query", "code", "message"), REFUSED)
def test_what_is_refused(api: Asking, method: str, path: str, query: dict[str, str], code: int, message: str) -> None:
    found, _, said = api.refused(method, path, **query)
    assert (found, said) == (code, message)


def test_the_log_of_a_pod_that_nobody_runs_is_empty(api: Asking) -> None:
    found = api.raw("GET", f"{UNBOUND}/log")
    assert (found.code, b"".join(found.chunks), found.content_type) == (200, b"", "text/plain")


def test_one_container_of_several_is_enough(api: Asking) -> None:
    assert "there are no logs" in api.refused("GET", f"{TWO}/log", container="init")[2]


def test_whoever_may_not_ask_is_told_nothing() -> None:
    server = ApiServer(seed=1, access=lambda services: RoleBasedAccess(services, StaticTokens()))
    code, reason, message = Asking(server, User("somebody", ())).refused("GET", f"{ONE}/log")
    assert (code, reason) == (403, "Forbidden")
    assert 'cannot get resource "pods/log"' in message
