"""The plan of a sweep: its runs, each with a name and an id.

From a specification and the contents of its files to runs, ordered so that runs of the same trace follow each other.
Planning neither reads files nor simulates; the same inputs give the same plan.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import msgspec

from kubesched.config.document import DocumentError, dump, parse
from kubesched.config.types import API_VERSION, KIND
from kubesched_lab.sweep.cluster_sizes import resized_workload
from kubesched_lab.sweep.errors import SweepError, about
from kubesched_lab.sweep.field_paths import short_names, with_value
from kubesched_lab.sweep.inputs import SweepInputs, configurations_of, named_traces
from kubesched_lab.sweep.runs import RunLabel, Setting, SweepRun
from kubesched_lab.sweep.spec import Common, ConfigurationSpec, SweepSpec, seeds_of, speeds_of, values_of

MOST_RUNS = 1_000_000


class ConfigVariant(NamedTuple):
    """A named configuration, after `set` was applied."""

    name: str
    text: bytes | None
    settings: Mapping[str, Any]


class ScenarioVariant(NamedTuple):
    """A trace, with a size of the cluster and values of Workload fields."""

    trace: str
    size: int | float | dict[str, int] | None
    fields: Mapping[str, Any]
    speed: float
    settings: Mapping[str, Any]
    digest: Sequence[Any]


def plan(spec: SweepSpec, inputs: SweepInputs, common: Common, version: str) -> list[SweepRun]:
    """Return the runs of a sweep; raises SweepError."""
    given = configurations_of(spec)
    scenarios = len(named_traces(spec)) * max(1, len(spec.nodes)) * _count(spec.set) * len(speeds_of(spec))
    count = scenarios * sum(_count(each.set) for each in given) * len(seeds_of(spec))
    if count > MOST_RUNS:
        raise SweepError(f"the sweep has {count} runs; expected at most {MOST_RUNS}")
    configs = [variant for each in given for variant in config_variants(each, inputs)]
    return runs_of(spec, inputs, common, version, configs)


def runs_of(
    spec: SweepSpec, inputs: SweepInputs, common: Common, version: str, configs: Sequence[ConfigVariant]
) -> list[SweepRun]:
    """Return the runs of all traces and seeds under some configurations; raises SweepError."""
    scenarios, seeds = list(_scenarios(spec, inputs)), seeds_of(spec)
    shared = [version, common, inputs.digests.get(spec.mapping), [inputs.digests.get(p, p) for p in spec.plugins]]
    runs = []
    for scenario, config in product(scenarios, configs):
        of = [*shared, *scenario.digest, hashlib.sha256(config.text or b"").hexdigest()]
        settings = [{key: _setting(value) for key, value in each.settings.items()} for each in (scenario, config)]
        name, nodes = _name(spec, scenario, config.name), _nodes(scenario.size)
        for seed in seeds:
            digest = hashlib.sha256(msgspec.json.encode([*of, seed], order="sorted")).hexdigest()[:16]
            label = RunLabel(digest, f"{name}, seed {seed}", scenario.trace, config.name, nodes, seed, *settings)
            runs.append(SweepRun(label, config.text, scenario.size, dict(scenario.fields), scenario.speed))
    return runs


def config_variants(spec: ConfigurationSpec, inputs: SweepInputs) -> Iterator[ConfigVariant]:
    """Yield the configurations of an entry, one for each combination of its values."""
    text = inputs.configs.get(spec.file) if spec.inline is None else dump(spec.inline).encode()
    if not spec.set:
        yield ConfigVariant(spec.name, text, {})
        return
    where = f"configurations: {spec.name}: set"
    with about(where):
        names = short_names(list(spec.set))
    for fields in _combinations(spec.set, where):
        settings = {names[path]: value for path, value in fields.items()}
        varied = [names[path] for path, values in spec.set.items() if isinstance(values, list) and len(values) > 1]
        name = ", ".join([spec.name, *(f"{key}={_setting(settings[key])}" for key in varied)])
        yield ConfigVariant(name, config_with(text, fields, where), settings)


def config_with(text: bytes | None, fields: Mapping[str, Any], where: str) -> bytes:
    """Return a configuration with changed field values; raises SweepError, which begins with `where`."""
    with about(where):
        try:
            document = {"apiVersion": API_VERSION, "kind": KIND} if text is None else parse(text)
        except DocumentError as error:
            raise SweepError(str(error)) from None
        for path, value in fields.items():
            document = with_value(document, path, value, makes_items=True)
    return dump(document).encode()


def varied_workload(
    document: Mapping[str, Any], fields: Mapping[str, Any], size: float | Mapping[str, int] | None
) -> dict[str, Any]:
    """Return a Workload with changed field values and another size; raises SweepError."""
    changed = dict(document)
    for path, value in fields.items():
        changed = with_value(changed, path, value, makes_items=False)
    return changed if size is None else resized_workload(changed, size)


def _scenarios(spec: SweepSpec, inputs: SweepInputs) -> Iterator[ScenarioVariant]:
    """Yield the traces with their sizes and fields."""
    with about("set"):
        names = short_names(list(spec.set))
    for trace, files in named_traces(spec).items():
        digests = [inputs.digests[file] for file in files]
        sizes: Sequence[int | float | dict[str, int] | None] = spec.nodes or [None]
        for size, fields, speed in product(sizes, list(_combinations(spec.set, "set")), speeds_of(spec)):
            with about(f"trace {trace}"):
                _check(inputs.workloads[trace], fields, size)
            settings = {names[path]: value for path, value in fields.items()}
            if isinstance(spec.speed, list):
                settings["speed"] = speed
            yield ScenarioVariant(trace, size, fields, speed, settings, [digests, size, fields, speed])


def _check(
    workloads: Mapping[str, Mapping[str, Any]], fields: Mapping[str, Any], size: float | Mapping[str, int] | None
) -> None:
    """Raise SweepError if a trace does not have the fields or pools of the specification."""
    if len(workloads) != 1 and (fields or isinstance(size, dict)):
        what = f"set: {next(iter(fields))}" if fields else "nodes: counts of pools"
        found = "is no Workload" if not workloads else "has several Workloads"
        raise SweepError(f"{what} is for traces with one Workload, and this {found}")
    for document in workloads.values():
        varied_workload(document, fields, size)


def _count(given: Mapping[str, Any]) -> int:
    return prod(len(each) if isinstance(each, list) else 1 for each in given.values())


def _combinations(given: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    values = [values_of(each, f"{where}: {path}") for path, each in given.items()]
    for chosen in product(*values):
        yield dict(zip(given, chosen, strict=True))


def _name(spec: SweepSpec, scenario: ScenarioVariant, config: str) -> str:
    parts = [scenario.trace, config]
    if spec.nodes:
        parts.append(f"nodes {_nodes(scenario.size)}")
    parts += [f"{key}={_setting(value)}" for key, value in scenario.settings.items()]
    return ", ".join(parts)


def _nodes(size: float | Mapping[str, int] | None) -> str:
    """Return the size of a cluster as a text."""
    if isinstance(size, Mapping):
        return ", ".join(f"{pool}={count}" for pool, count in size.items())
    return "1" if size is None else f"{size:g}"


def _setting(value: Any) -> Setting:
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return json.dumps(value, sort_keys=True)
