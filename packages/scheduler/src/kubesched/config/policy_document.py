"""Scheduler policies (kind Policy, v1.21 and earlier) as frozen structs, read strictly.

In: the text of a Policy, or of a ConfigMap that holds one under `policy.cfg`, in JSON or YAML. Out: `Policy`, with None
for a list that is absent and an empty tuple for an empty one, or a ConfigError with every problem of shape. The meaning
of the names is decided in `policy_choices`.
"""

# upstream: staging/src/k8s.io/kube-scheduler/config/v1/types.go, pkg/scheduler/scheduler.go (v1.21)

from __future__ import annotations

from typing import Any

import msgspec

from kubesched.api.go_text import quote
from kubesched.config.args import ResourceSpec, UtilizationShapePoint
from kubesched.config.decoding import Decoder
from kubesched.config.document import DocumentError, parse
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.golang import INT64_MAX, INT64_MIN, Duration
from kubesched.config.types import (
    API_VERSION,
    ConfigStruct,
    Extender,
    ExtenderManagedResource,
    ExtenderTLSConfig,
    Int32,
    Int64,
)

CONFIG_MAP_KEY = "policy.cfg"

_KIND = "Policy"
_VERSION = "v1"
_EXTENDER_STRUCTS = (Extender, ExtenderManagedResource, ExtenderTLSConfig)


class ServiceAffinity(ConfigStruct, frozen=True, kw_only=True):
    """Pods of a service run on nodes with the same values of these labels."""

    labels: tuple[str, ...] = ()


class LabelsPresence(ConfigStruct, frozen=True, kw_only=True):
    """Nodes must have all of these labels, or none."""

    labels: tuple[str, ...] = ()
    presence: bool = False


class PredicateArgument(ConfigStruct, frozen=True, kw_only=True):
    """The argument of a custom predicate; exactly one field is set."""

    service_affinity: ServiceAffinity | None = None
    labels_presence: LabelsPresence | None = None


class PredicatePolicy(ConfigStruct, frozen=True, kw_only=True):
    """A predicate by name."""

    name: str = ""
    argument: PredicateArgument | None = None


class ServiceAntiAffinity(ConfigStruct, frozen=True, kw_only=True):
    """Pods of a service spread over the values of a label."""

    label: str = ""


class LabelPreference(ConfigStruct, frozen=True, kw_only=True):
    """Nodes with a label, or without it, are preferred."""

    label: str = ""
    presence: bool = False


class RequestedToCapacityRatioArguments(ConfigStruct, frozen=True, kw_only=True):
    """A score by utilization, and its resources."""

    shape: tuple[UtilizationShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = ()


class PriorityArgument(ConfigStruct, frozen=True, kw_only=True):
    """The argument of a custom priority; exactly one field is set."""

    service_anti_affinity: ServiceAntiAffinity | None = None
    label_preference: LabelPreference | None = None
    requested_to_capacity_ratio_arguments: RequestedToCapacityRatioArguments | None = None


class PriorityPolicy(ConfigStruct, frozen=True, kw_only=True):
    """A priority by name, with its weight."""

    name: str = ""
    weight: Int64 = 0
    argument: PriorityArgument | None = None


class Policy(ConfigStruct, frozen=True, kw_only=True):
    """A whole policy; its extenders have the same fields as in a KubeSchedulerConfiguration."""

    predicates: tuple[PredicatePolicy, ...] | None = None
    priorities: tuple[PriorityPolicy, ...] | None = None
    extenders: tuple[Extender, ...] = ()
    hard_pod_affinity_symmetric_weight: Int32 = 0
    always_check_all_predicates: bool = False


def read_policy(text: str | bytes) -> tuple[Policy, tuple[str, ...]]:
    """Return the policy in `text` and warnings about ignored fields; raises ConfigError if it is no policy."""
    try:
        tree = parse(text)
        if isinstance(tree, dict) and tree.get("kind") == "ConfigMap":
            tree = parse(_policy_in(tree))
    except DocumentError as error:
        raise ConfigError(Stage.DECODE, [str(error)]) from None
    decoder = _PolicyDecoder()
    policy = decoder.policy(tree)
    if decoder.errors:
        raise ConfigError(Stage.DECODE, decoder.errors)
    return policy, tuple(decoder.warnings)


def _policy_in(config_map: dict[str, Any]) -> str:
    data = config_map.get("data")
    text = data.get(CONFIG_MAP_KEY) if isinstance(data, dict) else None
    if not isinstance(text, str):
        meta = config_map.get("metadata")
        names = [meta.get(field) for field in ("namespace", "name")] if isinstance(meta, dict) else []
        name = "/".join(name for name in names if isinstance(name, str) and name)
        problem = f"ConfigMap {name or 'without a name'}: no text under data[{quote(CONFIG_MAP_KEY)}]"
        raise ConfigError(Stage.DECODE, [f"{problem}; the policy belongs there"])
    return text


class _PolicyDecoder(Decoder):
    """Decodes a policy, whose extenders are less strict about case and count time in nanoseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.warnings: list[str] = []

    def policy(self, tree: Any) -> Policy:
        """Return the policy in `tree`; it is meaningful only if `errors` stays empty."""
        if not isinstance(tree, dict):
            self.errors.append(f"the document is no object; expected kind {quote(_KIND)}, apiVersion {quote(_VERSION)}")
            return Policy()
        # The reference reads policies under the configuration's group as well.
        version = API_VERSION if tree.get("apiVersion") == API_VERSION else _VERSION
        self._expect_type(tree, "", version, _KIND, required=True)
        if self.errors:
            return Policy()
        policy: Policy = self._struct(tree, Policy, "", ignored=frozenset({"apiVersion", "kind"}))
        return policy

    def _struct(self, tree: Any, cls: type[ConfigStruct], path: str, ignored: frozenset[str] = frozenset()) -> Any:
        if cls in _EXTENDER_STRUCTS and isinstance(tree, dict):
            tree = self._with_known_case(tree, cls, path)
        return super()._struct(tree, cls, path, ignored)

    def _with_known_case(self, tree: dict[str, Any], cls: type[ConfigStruct], path: str) -> dict[str, Any]:
        """Return the tree with its keys written as the struct has them: `BindVerb` and `enableHttps` are in use."""
        known = {field.encode_name.lower(): field.encode_name for field in msgspec.structs.fields(cls)}
        found: dict[str, Any] = {}
        for key, value in tree.items():
            if cls is Extender and key.lower() == "apiversion":
                # Old examples have it, though extenders have no version any more.
                self.warnings.append(f"{path}.{key}: has no meaning and is left out")
                continue
            name = known.get(key.lower(), key)
            if name in found:
                self.errors.append(f"{path}.{key}: is given twice, in different case; keep one")
            # differs (D-006): v1.21 ignores unknown fields of extenders
            found[name] = value
        return found

    def _duration(self, value: Any, path: str) -> Duration:
        if isinstance(value, bool) or not isinstance(value, int):
            self._mismatch(value, path, "whole nanoseconds (5000000000 are 5s)")
        elif INT64_MIN <= value <= INT64_MAX:
            return Duration(value)
        else:
            self.errors.append(f"{path}: {value} nanoseconds are out of range")
        return Duration()
