"""The schedulers that run now: their flags and feature gates, and the pods that nobody schedules.

From pods, and from the pages of a scheduler that can be reached, to findings. Flags are read from pods of kube-system
whose command is a kube-scheduler: static pods, or those of a Deployment.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kubesched.client.rest import Refused, Rest, Unreachable
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates, parse_flag
from kubesched.doctor.asked_cluster import Absent, AskedCluster, Document
from kubesched.doctor.findings import Finding, ok, warn
from kubesched.run.flags import GROUPS

KUBE_SCHEDULER = "kube-scheduler"
SYSTEM_PODS = "/api/v1/namespaces/kube-system/pods"
ALL_PODS = "/api/v1/pods"
_GATE = re.compile(r'^kubernetes_feature_enabled\{name="([^"]+)"[^}]*\} ([01])', re.MULTILINE)


async def check_running(cluster: AskedCluster, gates: FeatureGates) -> list[Finding]:
    """Return what is found about the schedulers that run as pods of kube-system."""
    pods = await cluster.items(SYSTEM_PODS)
    if isinstance(pods, Absent):
        fix = "compare its flags yourself, or ask as somebody who may list pods there"
        return [warn("flags", f"pods of kube-system cannot be read: {pods.why}", fix)]
    found = [(pod, words) for pod in pods for words in _commands(pod)]
    if not found:
        what = "no pod of kube-system runs kube-scheduler: it is managed by somebody else, or runs elsewhere"
        return [warn("flags", what, "give its --config and --feature-gates to doctor and shadow")]
    findings: list[Finding] = []
    for pod, words in found:
        findings += _flags(f"pod {_meta(pod).get('name')}", words, gates)
    return findings


def _meta(document: Document) -> Mapping[str, Any]:
    meta = document.get("metadata")
    return meta if isinstance(meta, dict) else {}


def _commands(pod: Document) -> Iterator[list[str]]:
    """Yield the words after the program's name for each container of a pod that runs kube-scheduler."""
    spec = pod.get("spec")
    for container in (spec.get("containers") or ()) if isinstance(spec, dict) else ():
        words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
        image = str(container.get("image", "")).rpartition("/")[2].partition(":")[0]
        for place, word in enumerate(words):
            if word.rpartition("/")[2] == KUBE_SCHEDULER:
                yield words[place + 1 :]
                break
        else:
            if image == KUBE_SCHEDULER:
                yield words


def _flags(who: str, words: Sequence[str], gates: FeatureGates) -> Iterator[Finding]:
    known = {flag.name: flag for group in GROUPS for flag in group.flags}
    given = {word.lstrip("-").partition("=")[0]: word.partition("=")[2] for word in words if word.startswith("--")}
    unknown = [f"--{name}" for name in given if name not in known]
    if unknown:
        fix = "leave these out of the command of kubesched run: it would not start"
        yield warn("flags", f"{who} has flags that kubesched does not know: {', '.join(unknown)}", fix)
    else:
        yield ok("flags", f"{who}: kubesched knows all of its {len(given)} flags")
    for name in given:
        if name in known and known[name].deprecated:
            yield warn("flags", f"{who}: --{name} is deprecated", "move what it says into the configuration file")
    if given.get("config"):
        yield ok("flags", f"{who} reads {given['config']}: give that file to doctor and shadow as --config")
    yield _gates_of_flag(who, given.get("feature-gates", ""), gates)


def _gates_of_flag(who: str, text: str, gates: FeatureGates) -> Finding:
    try:
        given = parse_flag(text) if text else {}
        theirs = FeatureGates({name: value for name, value in given.items() if name in gates.all()})
    except ConfigError as error:
        return warn("feature gates", f"{who}: {error}", "see whether its release knows another set of gates")
    unknown = [name for name in given if name not in gates.all()]
    if unknown:
        return warn("feature gates", f"{who} sets gates that are not known: {', '.join(unknown)}", "leave them out")
    return _compared(who, theirs.all(), gates)


def _compared(who: str, theirs: Mapping[str, bool], gates: FeatureGates) -> Finding:
    ours = gates.all()
    differing = [
        f"{name}={str(value).lower()}" for name, value in sorted(theirs.items()) if ours.get(name) not in (None, value)
    ]
    if not differing:
        return ok("feature gates", f"{who}: the same as given here")
    fix = f"give kubesched --feature-gates={','.join(differing)}"
    return warn("feature gates", f"{who} has {len(differing)} that differ from those given here", fix)


# -- pages of a scheduler


async def check_pages(rest: Rest, address: str, gates: FeatureGates) -> list[Finding]:
    """Return what the pages of a running scheduler say: its gates, and the configuration that is in force."""
    findings: list[Finding] = []
    who = f"the scheduler at {address}"
    try:
        text = (await rest.get("/metrics")).decode("utf-8", "replace")
        theirs = {name: value == "1" for name, value in _GATE.findall(text)}
        findings.append(
            _compared(who, theirs, gates)
            if theirs
            else warn("feature gates", f"{who} does not say its gates on /metrics", "compare them yourself")
        )
    except (Refused, Unreachable) as error:
        fix = "give --scheduler-token-file or a certificate of somebody who may get /metrics, and --scheduler-ca"
        return [warn("feature gates", f"{who} cannot be asked: {error}", fix)]
    try:
        found = msgspec.json.decode(await rest.get("/configz"))
        findings.append(_configuration(who, found))
    except (Refused, Unreachable, msgspec.MsgspecError) as error:
        findings.append(warn("configuration", f"{who} does not give /configz: {error}", "give its file as --config"))
    return findings


def _configuration(who: str, found: Any) -> Finding:
    """Return the profiles that are in force, whatever the case of the page's fields."""
    config: Any = next(iter(found.values()), None) if isinstance(found, dict) else None
    fields = {str(key).lower(): value for key, value in config.items()} if isinstance(config, dict) else {}
    profiles = [each for each in fields.get("profiles") or () if isinstance(each, dict)]
    names = [str(value) for each in profiles for key, value in each.items() if key.lower() == "schedulername"]
    return ok("configuration", f"{who} has profiles {', '.join(names) or '(none)'} in force")


# -- pods and their schedulers


async def check_pods(cluster: AskedCluster, served: Collection[str]) -> list[Finding]:
    """Return which schedulers pods name, and which of them nobody serves."""
    pods = await cluster.items(ALL_PODS, {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"})
    if isinstance(pods, Absent):
        fix = "ask as somebody who may list all pods"
        return [warn("schedulers", f"pods cannot be read: {pods.why}", fix)]
    waiting: Counter[str] = Counter()
    bound: Counter[str] = Counter()
    for pod in pods:
        spec = pod.get("spec") or {}
        name = str(spec.get("schedulerName") or "default-scheduler")
        (bound if spec.get("nodeName") else waiting)[name] += 1
    findings = [ok("schedulers", f"pods name {', '.join(sorted({*waiting, *bound})) or 'no scheduler'}")]
    for name in sorted({*waiting, *bound} - {*served}):
        if bound[name]:
            what = (
                f"{bound[name]:,} pods are {name}'s, a second scheduler that the configuration here has no profile for"
            )
            findings.append(warn("schedulers", what, "leave it running, or add a profile of that name"))
        else:
            what = f"{waiting[name]:,} pods wait for {name}, which nobody seems to serve"
            findings.append(warn("schedulers", what, "start that scheduler, or add a profile of that name"))
    return findings
