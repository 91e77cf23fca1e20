"""SySched: exposure to system calls, profiles of pods and containers, bad objects, arguments."""

import logging
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example

from kubesched import Nodes, PluginError, Registry, build_engine
from kubesched.testing import a_custom_object, a_node, a_pod, check_plugin
from kubesched_contrib.sysched import KIND, SySched, profiles_of

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: SySched, weight: 1000}]}}
  pluginConfig: [{name: SySched, args: ARGS}]
"""
ANNOTATION = "container.seccomp.security.alpha.kubernetes.io"
# as in the enhancement proposal
P1, P2, P3 = {"1", "2", "3", "5"}, {"4", "7", "8"}, {"1", "3", "5", "9"}


def a_profile(name: str, calls: Any = (), action: str = "SCMP_ACT_ALLOW", **fields: Any) -> Any:
    names = sorted(calls) if isinstance(calls, set) else calls
    spec = {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"action": action, "names": names}]}
    return a_custom_object(KIND, name, namespace="default", **{"spec": spec, **fields})


def a_confined_pod(name: str, *profiles: str, **options: Any) -> Any:
    told = {f"{ANNOTATION}/{profile}": f"localhost/operator/default/{profile}.json" for profile in profiles}
    return a_pod(name, annotations=told, **options)


def an_engine(*objects: Any, args: str = "{}") -> Any:
    registry = Registry()
    registry.register(SySched)
    engine = build_engine(CONFIG.replace("ARGS", args), registry=registry)
    for obj in objects:
        engine.cluster.add(obj)
    return engine


def exposures(engine: Any, pod: Any) -> dict[str, int]:
    """Return the raw score of each node."""
    plugin = next(iter(engine.profiles.values())).plugins["SySched"]
    nodes = Nodes.all_of(engine.cluster.table)
    found = plugin.score_nodes(None, engine.cluster.reader.read(pod), nodes)
    return dict(zip(nodes.names, found.tolist(), strict=True))


def test_the_exposure_of_all_pods_counts() -> None:
    engine = an_engine(a_node("n1"), a_node("n2"), a_profile("p1", P1), a_profile("p2", P2), a_profile("p3", P3))
    assert exposures(engine, a_confined_pod("a", "p1")) == {"n1": 0, "n2": 0}
    engine.cluster.add(a_confined_pod("a", "p1", node="n1"))
    assert exposures(engine, a_confined_pod("b", "p2")) == {"n1": 7, "n2": 0}
    engine.cluster.add(a_confined_pod("b", "p2", node="n2"))
    # n1: {9} for the first, {2} for the new one; n2: {1, 3, 5, 9} and {4, 7, 8}
    assert exposures(engine, a_confined_pod("c", "p3")) == {"n1": 2, "n2": 7}
    engine.cluster.add(a_profile("p2", {"1", "3", "5", "9"}))
    assert exposures(engine, a_confined_pod("c", "p3")) == {"n1": 2, "n2": 0}, "the profile changed"


SETS = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(profiles=SETS, placed=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=6))
def test_exposure_is_what_a_pod_does_not_need_and_others_may_do(profiles: Any, placed: Any) -> None:
    engine = an_engine(a_node("n0"), a_node("n1"), *(a_profile(f"p{n}", calls) for n, calls in enumerate(profiles)))
    on: dict[str, list[set[str]]] = {"n0": [profiles[0]], "n1": [profiles[0]]}
    for number, (which, node) in enumerate(placed):
        which %= len(profiles)
        on[f"n{node}"].append(profiles[which])
        engine.cluster.add(a_confined_pod(f"pod-{number}", f"p{which}", node=f"n{node}"))
    expected = {name: sum(len(set().union(*pods) - own) for own in pods) for name, pods in on.items()}
    assert exposures(engine, a_confined_pod("new", "p0")) == expected


def test_a_pod_without_a_profile_may_make_the_calls_of_the_default_one() -> None:
    engine = an_engine(a_node("n1"), a_node("n2"), a_profile("p1", P1), a_confined_pod("a", "p1", node="n1"))
    assert exposures(engine, a_pod("free")) == {"n1": 0, "n2": 0}, "nobody says what it may do"
    engine.cluster.add(a_profile("all-syscalls", P1 | P2, "SCMP_ACT_LOG"))
    assert exposures(engine, a_pod("free")) == {"n1": len(P2), "n2": 0}
    assert exposures(engine, a_confined_pod("b", "gone")) == {"n1": len(P2), "n2": 0}


def confined(profile: dict[str, str] | None) -> dict[str, Any]:
    return {"securityContext": {"runAsUser": 5} if profile is None else {"seccompProfile": profile}}


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (confined({"type": "Localhost", "localhostProfile": "operator/ns/p.json"}), ["ns/p"]),
        (confined({"type": "RuntimeDefault", "localhostProfile": "operator/ns/p.json"}), []),
        (confined({"type": "Localhost"}), []),
        (confined({"type": "Localhost", "localhostProfile": "p.json"}), []),
        (confined(None), []),
        ({"containers": [confined({"type": "Localhost", "localhostProfile": "ns/p"})]}, ["ns/p"]),
    ],
    ids=["a pod's", "of another type", "without a path", "without a namespace", "without a profile", "a container's"],
)
def test_profiles_are_found_in_security_contexts(spec: dict[str, Any], found: list[str]) -> None:
    pod = msgspec.convert({"metadata": {"name": "pod"}, "spec": spec}, type(a_pod("pod")))
    assert list(profiles_of(an_engine().cluster.reader.read(pod))) == found


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"spec": "none"}, "spec: expected an object, got 'none'"),
        ({"spec": {"syscalls": "read"}}, "spec.syscalls: expected a list, got 'read'"),
        (
            {"spec": {"syscalls": [{"action": "SCMP_ACT_ALLOW", "names": [5]}]}},
            "spec.syscalls[0].names[0]: expected a text",
        ),
        (
            {"spec": {"syscalls": [{"action": "SCMP_ACT_ALLOW", "names": [f"call{n}" for n in range(5000)]}]}},
            "is one of more than 4096 system calls",
        ),
        ({"spec": {"syscalls": [{"action": ["SCMP_ACT_ALLOW"], "names": [5]}]}}, ""),
        ({"spec": None}, ""),
    ],
)
def test_a_wrong_profile_is_told_in_the_log_and_counts_as_none(fields: Any, said: str, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING):
        engine = an_engine(a_node("n1"), a_profile("wrong", **fields))
        assert exposures(engine, a_confined_pod("a", "wrong")) == {"n1": 0}
    told = [str(getattr(record, "err", "")) for record in caplog.records]
    assert len(told) == bool(said)
    assert said in " ".join(told)


def test_the_contract() -> None:
    objects = [a_profile("p1", P1), a_profile("p2", P2), a_profile("p1", P3), a_profile("all-syscalls", P1 | P2 | P3)]
    pods = [a_confined_pod("a", "p1"), a_confined_pod("b", "p2"), a_confined_pod("c", "p1", "p2"), a_pod("d")]
    report = check_plugin(SySched, pods=pods, objects=objects, examples=15, speed=False)
    assert report, str(report)


@pytest.mark.parametrize(
    ("args", "message"), [("{defaultProfileName: 5}", "defaultProfileName"), ("{profile: p}", "profile")]
)
def test_arguments_that_are_wrong_are_told_at_start(args: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        an_engine(args=args)


def test_the_example_places_like_pods_together() -> None:
    found = run_example("sy-sched")
    assert found == {"web-1": "node-1", "cache-1": "node-2", "web-2": "node-1"}
