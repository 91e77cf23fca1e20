"""Servers that refuse, hang or answer nonsense: each check ends in a sentence with the fix, nothing is promised."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kubesched.client.rest import Refused, Unreachable
from kubesched.common.virtual_time import BEGINNING, run_in_virtual_time
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import engine_of, load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.doctor.configuration_checks import CheckedConfiguration
from kubesched.doctor.examination import examine
from kubesched.doctor.examined_cluster import ASK_AGAIN, LIST_SECONDS, Absent, ExaminedCluster, Right
from kubesched.doctor.findings import FAIL, OK, Finding, answer_of
from kubesched.doctor.rights_checks import needed_rights
from kubesched.doctor.scheduler_checks import ALL_PODS

OWN_LEASE = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: %s, resourceName: mine, resourceNamespace: ops}
"""


class Odd:
    """A server whose answers a function makes of the path and the query."""

    def __init__(self, answer: Callable[[str, Any], Any]) -> None:
        self._answer = answer
        self.reviewed: list[dict[str, str]] = []

    async def get(self, path: str, query: Any = None) -> bytes:
        found = self._answer(path, query or {})
        return found if isinstance(found, bytes) else msgspec.json.encode(found)

    async def send(self, method: str, path: str, body: bytes | None = None, **options: object) -> bytes:
        self.reviewed.append(msgspec.json.decode(body or b"")["spec"]["resourceAttributes"])
        return await self.get(path)

    def stream(self, path: str, query: object) -> Any:
        raise NotImplementedError


class Denying(Odd):
    """A server that is well and denies one right."""

    def __init__(self, right: Right) -> None:
        super().__init__(well)
        self._right = right

    async def send(self, method: str, path: str, body: bytes | None = None, **options: object) -> bytes:
        await super().send(method, path, body, **options)
        asked = self.reviewed[-1]
        resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        fields = (asked.get(name, "") for name in ("namespace", "name"))
        right = Right(asked["verb"], asked.get("group", ""), resource, *fields)
        return msgspec.json.encode({"status": {"allowed": right != self._right}})


def examined(rest: Odd, config: bytes | None = None) -> list[Finding]:
    checked = CheckedConfiguration("c.yaml" if config else None, config, FeatureGates(), Registry())
    return run_in_virtual_time(examine(rest, checked, now=lambda: BEGINNING))


def refusing(code: int) -> Callable[[str, Any], Any]:
    def answer(path: str, query: Any) -> Any:
        raise Refused(code, "Reason", f"refused with {code}")

    return answer


def well(path: str, query: Any) -> Any:
    if path == "/version":
        return {"gitVersion": "v1.36.4"}
    return {"status": {"allowed": True}, "items": []}


ODD_POD = {"containers": [5, {"command": 5, "args": {"a": 1}}, {"image": None, "command": ["kube-scheduler"]}]}
ODD_ITEMS = [{"spec": 5, "metadata": 7}, {"spec": ODD_POD}, {"spec": {"schedulerName": 7, "nodeName": {}}}, 5]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda path, query: {}, id="nothing"),
        pytest.param(lambda path, query: [], id="an array"),
        pytest.param(lambda path, query: b"<html>", id="the page of a proxy"),
        pytest.param(lambda path, query: {"items": 5, "metadata": "x", "status": 7}, id="fields of other types"),
        pytest.param(lambda path, query: {"items": ODD_ITEMS}, id="odd objects"),
        pytest.param(lambda path, query: b"[" * 100_000, id="a nest"),
        pytest.param(refusing(403), id="forbidden"),
        pytest.param(refusing(404), id="not found"),
        pytest.param(refusing(429), id="too many requests"),
        pytest.param(refusing(500), id="an error"),
    ],
)
def test_a_server_that_says_nothing_useful_is_not_taken_over(answer: Callable[[str, Any], Any]) -> None:
    findings = examined(Odd(answer))
    assert not answer_of("here", findings).ready
    assert [each.check for each in findings if each.level == FAIL] == ["rights"]
    assert all(each.fix for each in findings if each.level != OK)


@pytest.mark.parametrize(("code", "fix"), [(403, "system:basic-user"), (500, ASK_AGAIN), (429, ASK_AGAIN)])
def test_the_fix_is_a_right_only_if_one_is_missing(code: int, fix: str) -> None:
    (rights,) = (each for each in examined(Odd(refusing(code))) if each.check == "rights")
    assert fix in rights.fix


def test_credentials_that_are_not_accepted_end_it() -> None:
    with pytest.raises(Refused, match="refused with 401"):
        examined(Odd(refusing(401)))


def test_a_check_that_gets_no_answer_fails_and_the_others_are_made() -> None:
    def answer(path: str, query: Any) -> Any:
        if path.endswith("/pods"):
            raise Unreachable("the API server did not answer in time", maybe_done=True)
        return well(path, query)

    findings = examined(Odd(answer))
    assert [(each.check, each.fix) for each in findings if each.level == FAIL] == [
        ("flags", ASK_AGAIN),
        ("schedulers", ASK_AGAIN),
    ]
    assert any(each.check == "leader" for each in findings)


def test_lists_without_an_end_end() -> None:
    async def listed(answer: Callable[[str, Any], Any]) -> Any:
        return await ExaminedCluster(Odd(answer)).items("/api/v1/pods")

    same = run_in_virtual_time(listed(lambda path, query: {"metadata": {"continue": "x"}}))
    assert isinstance(same, Absent)
    assert "the list does not end" in same.why
    late = run_in_virtual_time(_slow_pages())
    assert isinstance(late, Absent)
    assert f"did not end within {LIST_SECONDS:.0f} s" in late.why


async def _slow_pages() -> Any:
    class Slow(Odd):
        async def get(self, path: str, query: Any = None) -> bytes:
            await asyncio.sleep(5.0)
            return msgspec.json.encode({"metadata": {"continue": str(int(query.get("continue", "0")) + 1)}})

    return await ExaminedCluster(Slow(well)).items("/api/v1/pods")


@pytest.mark.parametrize(
    ("elects", "leases"),
    [
        (b"true", [("create", "ops", None), ("get", "ops", "mine"), ("update", "ops", "mine")]),
        (b"false", []),
    ],
)
def test_the_lease_of_the_configuration_is_asked_about(elects: bytes, leases: list[tuple[str, str, str]]) -> None:
    rest = Odd(well)
    examined(rest, OWN_LEASE % elects)
    asked = [each for each in rest.reviewed if each["resource"] == "leases"]
    assert [(each["verb"], each["namespace"], each.get("name")) for each in asked] == leases


def test_a_right_names_its_resource() -> None:
    assert str(Right("get", "apps", "replicasets", "ops")) == "get replicasets.apps in namespace ops"


ALL_GATES = "CoordinatedLeaderElection=true,GenericWorkload=true"


def test_one_verb_that_is_missing_is_the_one_finding_and_its_rule_has_that_verb_alone() -> None:
    gates = FeatureGates.parse(ALL_GATES)
    loaded = load_config(None, gates)
    needed = needed_rights(engine_of(loaded, Registry()).profiles, gates, loaded.config.leader_election)
    assert {right.resource for right in needed} >= {"leasecandidates", "podgroups/status", "resourceclaims/binding"}
    checked = CheckedConfiguration(None, None, gates, Registry())
    for right in needed:
        rest = Denying(right)
        findings = run_in_virtual_time(examine(rest, checked, now=lambda: BEGINNING))
        (failure,) = (each for each in findings if each.level == FAIL)
        assert failure.what.startswith(f"may not {right} (needed by "), failure
        assert f'["{right.group}"], resources: [{right.resource}], verbs: [{right.verb}]}}' in failure.fix, failure


def test_of_thousands_of_schedulers_that_pods_name_some_are_told() -> None:
    named = [{"spec": {"schedulerName": f"s{number:04}"}} for number in range(3000)]
    named += [{"spec": {"schedulerName": "second", "nodeName": "n"}}] * 5

    def answer(path: str, query: Any) -> Any:
        return {"items": named} if path == ALL_PODS else well(path, query)

    found = [each for each in examined(Odd(answer)) if each.check == "schedulers"]
    assert len(found) == 22
    assert found[0].what.endswith("s0018, second and 2981 more")
    assert any("second has 5 pods" in each.what for each in found)
    assert found[-1].what.startswith("pods name 2,981 more schedulers")
