"""Fields that are used at start only keep their values, and are named."""

import pytest

from kubesched.core.assembly import load_config
from kubesched.run.restart_fields import RELOADED, with_restart_fields_of

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CASES = [
    ("nothing", "", []),
    ("a weight", "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 3}]}}}]\n", []),
    ("the backoff", "podMaxBackoffSeconds: 90\npodInitialBackoffSeconds: 2\n", []),
    ("how many nodes are scored", "percentageOfNodesToScore: 7\n", []),
    ("an extender", "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter}]\n", []),
    ("parallelism", "parallelism: 3\n", ["parallelism"]),
    (
        "leader election and clients",
        "leaderElection: {leaseDuration: 60s}\nclientConnection: {qps: 9, kubeconfig: other}\n",
        ["clientConnection.kubeconfig", "clientConnection.qps", "leaderElection.leaseDuration"],
    ),
    (
        "pages",
        "enableProfiling: false\ndelayCacheUntilActive: true\n",
        ["delayCacheUntilActive", "enableContentionProfiling", "enableProfiling"],
    ),
]


@pytest.mark.parametrize(("text", "named"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_needs_a_restart_is_named_and_kept(text: str, named: list[str]) -> None:
    old, new = load_config(HEAD).config, load_config(HEAD + text).config
    merged, restart = with_restart_fields_of(old, new)
    assert set(named) <= set(restart)
    assert set(restart) <= {*named, "enableContentionProfiling"}
    for field in merged.__struct_fields__:
        assert getattr(merged, field) == getattr(new if field in RELOADED else old, field)
