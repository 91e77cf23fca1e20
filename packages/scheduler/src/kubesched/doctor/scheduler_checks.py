"""The running schedulers: their flags and feature gates, and the pods without a scheduler.

From pods, and from the pages of a reachable scheduler, to findings. Flags are read from pods of kube-system whose
command is a kube-scheduler: static pods, or pods of a Deployment.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from kubesched.client.rest import Refused, Rest, Unreachable
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates, parse_flag
from kubesched.doctor.examined_cluster import Absent, Document, ExaminedCluster
from kubesched.doctor.findings import Finding, ok, warn
from kubesched.reports.plain_words import number
from kubesched.run.flags import GROUPS

KUBE_SCHEDULER = "kube-scheduler"
SYSTEM_PODS = "/api/v1/namespaces/kube-system/pods"
ALL_PODS = "/api/v1/pods"
# limit of named schedulers
MOST_NAMED = 20
LONGEST_NAME = 253
_GATE = re.compile(r'^kubernetes_feature_enabled\{name="([^"]+)"[^}]*\} ([01])', re.MULTILINE)


async def check_running(cluster: ExaminedCluster, gates: FeatureGates) -> list[Finding]:
    """Return findings about the schedulers that run as pods of kube-system."""
    pods = await cluster.items(SYSTEM_PODS)
    if isinstance(pods, Absent):
        fix = pods.fix("compare its flags yourself, or use an identity that may list pods there")
        return [warn("flags", f"pods of kube-system cannot be read: {pods.why}", fix)]
    found = [(pod, words) for pod in pods for words in _commands(pod)]
    if not found:
        what = "no pod of kube-system runs kube-scheduler: the provider manages it, or it runs elsewhere"
        return [warn("flags", what, "give its --config and --feature-gates to doctor and shadow")]
    findings: list[Finding] = []
    for pod, words in found:
        findings += _flags(f"pod {_fields(pod.get('metadata')).get('name')}", words, gates)
    return findings


def _fields(value: Any) -> Mapping[str, Any]:
    """Return an object's fields; empty for other values."""
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _commands(pod: Document) -> Iterator[list[str]]:
    """Yield the arguments for each container of a pod that runs kube-scheduler."""
    for container in _list(_fields(pod.get("spec")).get("containers")):
        fields = _fields(container)
        words = [str(word) for word in (*_list(fields.get("command")), *_list(fields.get("args")))]
        image = re.split("[:@]", str(fields.get("image")).rpartition("/")[2])[0]
        for place, word in enumerate(words):
            if word.rpartition("/")[2] == KUBE_SCHEDULER:
                yield words[place + 1 :]
                break
        else:
            if image == KUBE_SCHEDULER:
                yield words


def _flags(who: str, words: Sequence[str], gates: FeatureGates) -> Iterator[Finding]:
    known = {flag.name: flag for group in GROUPS for flag in group.flags}
    given = _given(words)
    unknown = [f"--{name}" for name in given if name not in known]
    if unknown:
        fix = "leave these out of the command of kubesched run, which would refuse them"
        yield warn("flags", f"{who} has flags that kubesched does not know: {', '.join(unknown)}", fix)
    else:
        yield ok("flags", f"{who}: kubesched knows all of its {len(given)} flags")
    for name in given:
        if name in known and known[name].deprecated:
            yield warn("flags", f"{who}: --{name} is deprecated", "move its value into the configuration file")
    if given.get("config"):
        yield ok("flags", f"{who} reads {given['config']}: give that file to doctor and shadow as --config")
    yield _gates_of_flag(who, given.get("feature-gates", ""), gates)


def _given(words: Sequence[str]) -> dict[str, str]:
    """Return flags with their values: `--name=value`, `--name value` or `--name`."""
    given: dict[str, str] = {}
    for word, following in pairwise([*words, "-"]):
        if word.startswith("--"):
            name, equals, value = word.lstrip("-").partition("=")
            given[name] = value if equals or following.startswith("-") else following
    return given


def _gates_of_flag(who: str, text: str, gates: FeatureGates) -> Finding:
    try:
        given = parse_flag(text) if text else {}
        theirs = FeatureGates({name: value for name, value in given.items() if name in gates.all()})
    except ConfigError as error:
        return warn("feature gates", f"{who}: {error}", "check whether its release has other gates")
    unknown = [name for name in given if name not in gates.all()]
    if unknown:
        return warn("feature gates", f"{who} sets unknown gates: {', '.join(unknown)}", "leave them out")
    return _compared(who, theirs.all(), gates)


def _compared(who: str, theirs: Mapping[str, bool], gates: FeatureGates) -> Finding:
    ours = gates.all()
    differing = [
        f"{name}={str(value).lower()}" for name, value in sorted(theirs.items()) if ours.get(name) not in (None, value)
    ]
    if not differing:
        return ok("feature gates", f"{who}: the same gates as kubesched")
    fix = f"give kubesched --feature-gates={','.join(differing)}"
    return warn("feature gates", f"{who} has {len(differing)} gates that differ from those of kubesched", fix)


# -- pages of a scheduler


async def check_pages(rest: Rest, address: str, gates: FeatureGates) -> list[Finding]:
    """Return findings about the pages of a running scheduler: its gates, and the configuration in force."""
    findings: list[Finding] = []
    who = f"the scheduler at {address}"
    try:
        text = (await rest.get("/metrics")).decode("utf-8", "replace")
        theirs = {name: value == "1" for name, value in _GATE.findall(text)}
        findings.append(
            _compared(who, theirs, gates)
            if theirs
            else warn("feature gates", f"{who} does not report its gates on /metrics", "compare them yourself")
        )
    except (Refused, Unreachable) as error:
        fix = "give --scheduler-token-file or a certificate of an identity that may get /metrics, and --scheduler-ca"
        return [warn("feature gates", f"{who} cannot be read: {error}", fix)]
    try:
        found = msgspec.json.decode(await rest.get("/configz"))
        findings.append(_configuration(who, found))
    except (Refused, Unreachable, msgspec.MsgspecError, RecursionError) as error:
        findings.append(warn("configuration", f"{who} does not serve /configz: {error}", "give its file as --config"))
    return findings


def _configuration(who: str, found: Any) -> Finding:
    """Return a finding about the profiles in force; the case of the page's fields is ignored."""
    config: Any = next(iter(found.values()), None) if isinstance(found, dict) else None
    fields = {str(key).lower(): value for key, value in config.items()} if isinstance(config, dict) else {}
    profiles = [each for each in _list(fields.get("profiles")) if isinstance(each, dict)]
    names = [str(value) for each in profiles for key, value in each.items() if key.lower() == "schedulername"]
    return ok("configuration", f"{who} has profiles {', '.join(names) or '(none)'} in force")


# -- pods and their schedulers


async def check_pods(cluster: ExaminedCluster, served: Collection[str]) -> list[Finding]:
    """Return findings about the schedulers that pods name, and whether one serves them."""
    unfinished = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
    pods = await cluster.read_items(ALL_PODS, unfinished, _scheduler_and_node)
    if isinstance(pods, Absent):
        fix = pods.fix("use an identity that may list all pods")
        return [warn("schedulers", f"pods cannot be read: {pods.why}", fix)]
    waiting: Counter[str] = Counter()
    bound: Counter[str] = Counter()
    for name, has_node in pods:
        (bound if has_node else waiting)[name] += 1
    # any user who creates pods can name any number of schedulers
    names = sorted({*waiting, *bound}, key=lambda name: (-bound[name] - waiting[name], name))
    findings = [ok("schedulers", f"pods name {_some(sorted(names[:MOST_NAMED]), len(names)) or 'no scheduler'}")]
    others = [name for name in names if name not in served]
    for name in sorted(others[:MOST_NAMED]):
        if bound[name]:
            what = (
                f"{name} has {number(bound[name], 'pod')}: a second scheduler, without a profile in the configuration"
            )
            findings.append(warn("schedulers", what, "leave it running, or add a profile of that name"))
        else:
            what = f"{name} has {number(waiting[name], 'pod')} waiting, and no scheduler seems to serve it"
            findings.append(warn("schedulers", what, "start that scheduler, or add a profile of that name"))
    if len(others) > MOST_NAMED:
        what = f"pods name {number(len(others) - MOST_NAMED, 'more scheduler')} without a profile in the configuration"
        fix = "find these pods: kubectl get pods -A -o custom-columns=:.metadata.namespace,:.spec.schedulerName"
        findings.append(warn("schedulers", what, fix))
    return findings


def _some(names: Sequence[str], count: int) -> str:
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(name[:LONGEST_NAME] for name in names) + more


def _scheduler_and_node(pod: Document) -> tuple[str, bool]:
    """Return the name of a pod's scheduler, and whether it has a node."""
    spec = _fields(pod.get("spec"))
    return str(spec.get("schedulerName") or "default-scheduler"), bool(spec.get("nodeName"))
