"""What a model cannot know is among its gaps: extenders, and what plugins look up outside."""

from typing import Any

from kubesched import Background, Cluster, ScorePlugin
from kubesched.testing import a_node, a_pod

CONFIG: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Prices"}]}}}],
    "extenders": [{"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "filter"}],
}


class Prices(ScorePlugin):
    """Scores nodes by prices from outside."""

    name = "Prices"

    def __init__(self, background: Background) -> None:
        background.every(30, self.fetch)

    async def fetch(self) -> None:
        raise AssertionError("nobody fetches here")

    def score(self, cycle: Any, pod: Any, node: Any) -> int:
        return 0


def test_extenders_and_look_ups_of_plugins_are_gaps() -> None:
    answer = Cluster.of([a_node("n1"), a_pod("p")], config=CONFIG, plugins=[Prices]).explain("p")
    assert [(gap.what, gap.why) for gap in answer.gaps] == [
        ("extenders http://127.0.0.1:1/", "they are not called"),
        ("what plugin Prices looks up outside", "it is not looked up here"),
    ]
