"""Answers to corpus scenarios: a cluster and pods in, the reference's verdicts out.

From a scenario's objects to an engine. Each pod is judged on the given cluster, or in sequence, after the results of
earlier pods.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from kubesched.api.codec import decode
from kubesched.api.custom import custom_kind_of, custom_object
from kubesched.api.kinds import flattened, is_foreign
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.api.scheduling import PodGroup
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.conformance.groups import PREFIX, GroupJudge
from kubesched.conformance.results import Judge, Result, held_back
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster_effects import run
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Code
from kubesched.core.scheduling.engine import Engine
from kubesched.errors import InvalidObjectError

START_OF_SEQUENCE = datetime(2030, 1, 1, tzinfo=UTC)
CLAIMS_PLUGIN = "DynamicResources"
LEFT_OUT_IN_BRIEF = ("filter", "filterSkip", "scoreSkip", "raw", "scores")


def answer(
    line: Mapping[str, Any], registry: Registry | None = None, steer: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return the `expected` object of a scenario.

    If `steer` has results of the corpus, a sequence continues with their choices, so that one difference does not hide
    later ones.
    """
    gates = FeatureGates(line.get("featureGates") or {})
    try:
        engine = build_engine(line.get("config"), gates, registry, validate=False)
    except ConfigError as error:
        return {"error": "; ".join(error.errors)}
    scenario = Scenario(engine, line)
    answers: dict[str, Any] = {}
    if scenario.names or not scenario.groups:
        answers["results"] = scenario.run(steer)
    if scenario.groups:
        answers["groups"] = scenario.run_groups()
    if scenario.ignored:
        answers["ignored"] = dict(scenario.ignored)
    return answers


class Scenario:
    """A cluster with pods to judge."""

    def __init__(self, engine: Engine, line: Mapping[str, Any]) -> None:
        self.engine = engine
        self.cluster = engine.cluster
        self.sequence = bool(line.get("sequence"))
        self.preempt = bool(line.get("preempt"))
        self.brief = line.get("detail") == "brief"
        # number of objects of kinds that neither the scheduler nor its plugins read
        self.ignored: Counter[str] = Counter()
        objects = list(self._objects(line.get("objects") or ()))
        # Rows are in the order of names, the order of nodes in the corpus.
        for obj in sorted(objects, key=_nodes_first):
            self.cluster.add(obj)
        self.by_name = {obj.full_name: obj for obj in objects if isinstance(obj, Pod)}
        self._ungate()
        named: list[str] = list(line.get("pods") or ())
        self.names = [name for name in named if not name.startswith(PREFIX)]
        self.groups = [name.removeprefix(PREFIX) for name in named if name.startswith(PREFIX)]
        for name in self.groups:
            if not any(_is_of_group(obj, name) for obj in objects):
                raise InvalidObjectError(
                    f"pods: {PREFIX}{name}: neither the group nor a pod of it is among the objects"
                )
        for name in self.names:
            if name not in self.by_name:
                there = ", ".join(sorted(self.by_name)[:5]) or "none"
                hint = "; give pods their metadata.namespace" if name.rpartition("/")[2] in self.by_name else ""
                raise InvalidObjectError(f"pods: {name} is not among the objects; pods among them: {there}{hint}")

    def _objects(self, documents: Iterable[Mapping[str, Any]]) -> Iterator[ApiObject]:
        """Yield the objects of documents, including the items of lists."""
        plugins = [plugin for profile in self.engine.profiles.values() for plugin in profile.plugins.values()]
        looked_up = [name for plugin in plugins for name in plugin.looks_up]
        for document in flattened(documents):
            custom = custom_kind_of(document, looked_up)
            if custom is not None:
                yield custom_object(custom, document)
            elif is_foreign(document):
                self.ignored[str(document["kind"])] += 1
            else:
                yield decode(document)

    def _ungate(self) -> None:
        """Drop the nominations of pods of other schedulers, and of pods that PreEnqueue holds back."""
        for pod in list(self.cluster.pending.values()):
            if pod.status.nominated_node_name:
                profile = self._profile(pod)
                if profile is None or held_back(profile.pre_enqueue, pod):
                    self.cluster.clear_nomination(pod.uid)

    def _profile(self, pod: PodInfo) -> Profile | None:
        return self.engine.profiles.get(pod.spec.scheduler_name)

    def run(self, steer: Sequence[Mapping[str, Any]]) -> list[Result]:
        """Return the results of all attempts."""
        results: list[Result] = []
        retries: list[str] = []
        for name in self.names:
            result = self._attempt(name, len(results), steer)
            results.append(result)
            if self.preempt and result.get("preemptionBest"):
                self._carry_out_preemption(name, result)
                retries.append(name)
        for name in retries:
            result = self._attempt(name, len(results), steer)
            result["retry"] = True
            results.append(result)
            if "chosen" not in result:
                self.cluster.clear_nomination(self.by_name[name].uid)
        return [self._shortened(result) for result in results]

    def run_groups(self) -> list[Result]:
        """Return the results of all groups."""
        judge = GroupJudge(self.engine, sequence=self.sequence)
        return [judge.judge(name) for name in self.groups]

    def _attempt(self, name: str, position: int, steer: Sequence[Mapping[str, Any]]) -> Result:
        pod = self.cluster.reader.read(self.by_name[name])
        profile = self._profile(pod)
        if profile is None:
            return {"pod": name, "error": f'profile not found for scheduler name "{pod.spec.scheduler_name}"'}
        refusals = held_back(profile.pre_enqueue, pod)
        if refusals:
            return {"pod": name, "preEnqueue": refusals}
        evaluation = self.engine.evaluators[profile.scheduler_name].evaluation_of(pod)
        judge = Judge(profile, evaluation, self.engine.loaded.config.extenders)
        result = judge.judge()
        if self.sequence:
            self.engine.effects.submit(*judge.effects)
            chosen = steer[position].get("chosen") if position < len(steer) else result.get("chosen")
            if chosen is not None:
                self._place(pod, profile, evaluation.cycle, chosen, position, result)
        return result

    def _place(
        self, pod: PodInfo, profile: Profile, cycle: CycleState, node_name: str, position: int, result: Result
    ) -> None:
        """Assume the pod on its node, run the Reserve plugins and write its claims."""
        started = pod
        if pod.status.start_time is None:
            status = msgspec.structs.replace(pod.status, start_time=START_OF_SEQUENCE + timedelta(seconds=position))
            started = pod.replaced(msgspec.structs.replace(pod.pod, status=status))
        placed = self.cluster.assume(started, node_name)
        failed = _reserve(profile, cycle, placed, node_name) or _write_claims(profile, cycle, placed, node_name)
        if failed:
            result.update(failed)
            for plugin in reversed(profile.reserve):
                plugin.unreserve(cycle, placed, node_name)
            self.cluster.forget(placed)

    def _carry_out_preemption(self, name: str, result: Result) -> None:
        """Delete the victims and nominate the pod to their node."""
        node_name = result["preemptionBest"][0]
        pod = self.cluster.reader.read(self.by_name[name])
        for victim in result["preemptionCandidates"][node_name]["victims"]:
            self.cluster.remove_pod(self.by_name[victim].uid)
        for nominated in self.cluster.nominations.on(node_name):
            if nominated.priority < pod.priority:
                self.cluster.clear_nomination(nominated.uid)
        status = msgspec.structs.replace(pod.status, nominated_node_name=node_name)
        self.by_name[name] = msgspec.structs.replace(pod.pod, status=status)
        self.cluster.add(self.by_name[name])

    def _shortened(self, result: Result) -> Result:
        if not self.brief:
            return result
        left_out = {*LEFT_OUT_IN_BRIEF, *(("nodeStatus",) if "chosen" in result else ())}
        return {key: value for key, value in result.items() if key not in left_out}


def _is_of_group(obj: ApiObject, name: str) -> bool:
    """Return whether an object is the group `namespace/name` or one of its pods."""
    if isinstance(obj, Pod):
        group = obj.spec.scheduling_group
        return group is not None and f"{obj.namespace}/{group.pod_group_name}" == name
    return isinstance(obj, PodGroup) and obj.full_name == name


def _nodes_first(obj: ApiObject) -> tuple[int, str]:
    """Return a sort key: nodes by name, then other objects in their order."""
    return (0, obj.name) if isinstance(obj, Node) else (1, "")


def _reserve(profile: Profile, cycle: CycleState, pod: PodInfo, node_name: str) -> Result:
    """Run the Reserve plugins; return the failure for the result, if any."""
    for plugin in profile.reserve:
        failure = plugin.reserve(cycle, pod, node_name)
        if failure is not None and not failure.ok:
            return {"reserveError": f'running Reserve plugin "{plugin.name}": {failure.message}'}
    return {}


def _write_claims(profile: Profile, cycle: CycleState, pod: PodInfo, node_name: str) -> Result:
    """Run PreBind of DynamicResources; volumes stay assumed, nothing gets bound."""
    for plugin in profile.pre_bind:
        if plugin.name == CLAIMS_PLUGIN:
            failure = plugin.pre_bind_pre_flight(cycle, pod, node_name)
            if failure is None:
                failure = run(plugin.pre_bind(cycle, pod, node_name))
            if failure is not None and not failure.ok and failure.code is not Code.SKIP:
                return {"preBindError": failure.message}
    return {}
