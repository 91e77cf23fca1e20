"""`kubesched shadow` beside the scheduler of a real cluster, which has the default configuration: both decide alike.

KUBESCHED_SCENARIOS is how many scenarios of each file of the conformance corpus are taken, and with it how many
bursts; a large number takes all, which takes hours.
"""

import faulthandler
import os
import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from tests.support.api_client import ApiClient
from tests.support.clusters import bound, settled
from tests.support.corpus_on_a_cluster import FILES, NAMESPACES, CorpusScenario, scenarios_of_defaults
from tests.support.processes import eventually
from tests.support.shadow_process import PACKING, a_shadow

from kubesched.testing import a_namespace, a_spread, an_affinity

pytestmark = pytest.mark.cluster

SCENARIOS = int(os.environ.get("KUBESCHED_SCENARIOS", "4"))
BURSTS = 1 + SCENARIOS // 10
BURST = 40
PROBE_SECONDS = 20.0
# of all decisions, at least; the others were cut short by errors of the scheduler, or came with too many at once
JUDGED = 0.9
DEFAULT = "default-scheduler"
ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
def scheduled(cluster: Any) -> Any:
    """Give a place on a cluster whose pods are scheduled by its own scheduler, on nodes of the test."""
    cluster.scheduler_name = DEFAULT
    node = cluster.node("probe", cpu="1")
    cluster.pod("probe")
    try:
        bound(cluster.api, "probe", cluster.namespace, seconds=PROBE_SECONDS)
    except AssertionError:
        pytest.skip(f"no scheduler serves {DEFAULT}: a pod was not bound within {PROBE_SECONDS:g} s")
    cluster.api.delete("Pod", "probe", cluster.namespace, at_once=True)
    cluster.api.delete("Node", node)
    return cluster


def agree(answer: dict[str, Any], decided: int, show: pytest.CaptureFixture[str]) -> None:
    """Check that a shadow found no difference, and judged what was decided; show the figures."""
    with show.disabled():
        print(f"\n{decided} pods decided: {answer['counts']}", end="; ")
        print(f"{answer['otherMoments']} as of another moment; not judged: {answer['notJudged']}")
    assert answer["agrees"], answer["differences"]
    assert answer["differences"] == []
    missed = sum(answer["notJudged"].values())
    assert answer["judged"] >= JUDGED * (answer["judged"] + missed), answer["notJudged"]
    assert answer["judged"] >= JUDGED * decided


def test_clusters_of_the_corpus(scheduled: Any, capsys: pytest.CaptureFixture[str]) -> None:
    api = scheduled.api
    if api.all("Node") or api.all("Pod"):
        pytest.skip("clusters of the corpus need a cluster without nodes and pods of its own")
    for namespace in NAMESPACES:
        scheduled.create(a_namespace(namespace))
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        eventually(partial(found, api, account), f"namespace {namespace} has a service account")
    decided, tried, refused = 0, 0, []
    # it lasts as long as KUBESCHED_SCENARIOS says; each wait in it has a deadline
    faulthandler.cancel_dump_traceback_later()
    with a_shadow(scheduled.folder, scheduled.kubeconfig) as shadow:
        for file in FILES:
            lines = scenarios_of_defaults(file)
            for name, line in random.Random(file).sample(lines, min(SCENARIOS, len(lines))):
                scenario = CorpusScenario(api, name, line)
                try:
                    scenario.build()
                    decided += sum(scenario.decisions())
                finally:
                    scenario.clear()
                tried += scenario.tried
                refused += scenario.refused
        answer = shadow.end()
    agree(answer, decided, capsys)
    # some objects are such that only a corpus has them
    assert len(refused) < 0.1 * tried, refused


def found(api: ApiClient, path: str) -> bool:
    """Return whether an object is there."""
    return api.ask("GET", path)[0] == 200


def a_request(chance: random.Random) -> dict[str, Any]:
    """Return what a pod of a burst asks for."""
    app = chance.choice("abcd")
    term = f"app={app}@{chance.choice(('hostname', 'zone'))}"
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"memory": chance.choice(("100Mi", "1Gi", "3Gi"))},
        {"ports": [chance.choice((8080, 8081))]},
        {"spread": a_spread("zone", f"app={app}")},
        {"spread": a_spread("hostname", f"app={app}", soft=True)},
        {"affinity": an_affinity(apart=term)},
        {"affinity": an_affinity(prefer_near=(50, term))},
        {"affinity": an_affinity(prefer_nodes=(80, f"{ZONE}={chance.choice('xyz')}"))},
    )
    return {"cpu": chance.choice(("50m", "100m", "300m", "700m", "9")), "labels": {"app": app}, **chance.choice(kinds)}


def test_many_pods_at_once_and_another_scoring_strategy_differs(
    scheduled: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, cpu in enumerate(("2", "2", "3", "4", "4", "8")):
        scheduled.node(f"n{number}", cpu=cpu, zone="xyz"[number % 3])
    chance, count = random.Random(1), 0
    with (
        a_shadow(scheduled.folder, scheduled.kubeconfig) as shadow,
        a_shadow(scheduled.folder, scheduled.kubeconfig, config=PACKING) as packing,
    ):
        # one after the other, so that only one moment can be meant
        for number in range(6):
            scheduled.pod(f"single-{number}", cpu="500m")
            bound(scheduled.api, f"single-{number}", scheduled.namespace)
        for burst in range(BURSTS):
            requests = {f"p{burst}-{number}": a_request(chance) for number in range(BURST)}
            with ThreadPoolExecutor(16) as pool:
                made = [pool.submit(scheduled.pod, name, **request) for name, request in requests.items()]
            assert all(each.result() for each in made)
            settled(scheduled.api, scheduled.namespace)
            count += len(requests)
            for name in requests:
                scheduled.api.delete("Pod", name, scheduled.namespace, at_once=True)
        answer, other = shadow.end(), packing.end()
    agree(answer, count, capsys)
    assert not other["agrees"]
    assert other["counts"]["scoredLess"] > 0
