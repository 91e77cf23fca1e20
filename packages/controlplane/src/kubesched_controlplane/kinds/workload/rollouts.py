"""The strategies of deployments, daemon sets and controller revisions."""

# upstream: pkg/registry/apps/{deployment,daemonset,controllerrevision}/strategy.go,
# pkg/apis/apps/{v1/defaults.go,v1/conversion.go,validation/validation.go} (v1.36)

from contextlib import suppress

from kubesched.api.field_errors import as_json, child, forbidden, invalid, not_supported, required
from kubesched.api.labels import InvalidSelectorError, from_label_selector, parse_int64
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import (
    as_selector,
    immutable,
    label_selector_problems,
    not_negative,
    part,
    shown,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.pod.defaults import default_spec
from kubesched_controlplane.kinds.workload.templates import (
    TemplateStrategy,
    count_problems,
    lasting_template_problems,
    match_problems,
    restart_problems,
    selector_problems,
    share_problems,
    share_value,
    template_problems,
    too_large_share_problems,
)
from kubesched_controlplane.registry.strategy import StrategyContext

ROLLING_UPDATE, RECREATE, ON_DELETE = "RollingUpdate", "Recreate", "OnDelete"
# the generation of a daemon set's template, for old clients
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_DAEMON_COUNTS = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")


class DeploymentStrategy(TemplateStrategy):
    """The strategy of deployments."""

    has_generation = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and the first status."""
        self.fill_in(new, context)
        new["status"] = {}

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults; a change of annotations, which are copied to replica sets, raises the generation."""
        self.fill_in(new, context)
        if (new["metadata"].get("annotations") or {}) != (old["metadata"].get("annotations") or {}):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        strategy = spec["strategy"]
        if strategy["type"] == ROLLING_UPDATE:
            rolling = part(strategy, "rollingUpdate")
            for field in ("maxUnavailable", "maxSurge"):
                if rolling.get(field) is None:
                    rolling[field] = "25%"
        default_spec(part(part(spec, "template"), "spec"))

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a deployment."""
        spec = document["spec"]
        problems = not_negative("spec.replicas", spec["replicas"])
        more, selector = selector_problems(spec.get("selector"), "deployment", "invalid label selector")
        problems += more
        if selector is not None:
            problems += lasting_template_problems(spec["template"], selector, "ReplicaSet")
        problems += _strategy_problems("spec.strategy", spec["strategy"])
        problems += count_problems(spec, ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"))
        deadline = spec["progressDeadlineSeconds"]
        if deadline <= (spec.get("minReadySeconds") or 0):
            problems.append(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
        return problems

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the status and metadata, and keep the labels; annotations hold the revision."""
        super().prepare_status(new, old, context)
        new["metadata"].pop("labels", None)
        if "labels" in old["metadata"]:
            new["metadata"]["labels"] = old["metadata"]["labels"]

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        status = new.get("status") or {}
        problems = super().validate_status(new, old, context)
        for field in ("updatedReplicas", "readyReplicas", "availableReplicas"):
            if (count := status.get(field) or 0) > (status.get("replicas") or 0):
                problems.append(invalid(f"status.{field}", count, "cannot be greater than status.replicas"))
        if (available := status.get("availableReplicas") or 0) > (status.get("readyReplicas") or 0):
            why = "cannot be greater than readyReplicas"
            problems.append(invalid("status.availableReplicas", available, why))
        return problems + _collision_problems(new, old)


def _strategy_problems(path: str, strategy: Document) -> list[str]:
    if strategy["type"] == RECREATE:
        if strategy.get("rollingUpdate") is None:
            return []
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [forbidden(child(path, "rollingUpdate"), why)]
    if strategy["type"] != ROLLING_UPDATE:
        given = {"Type": strategy["type"], "RollingUpdate": strategy.get("rollingUpdate")}
        return [not_supported(path, as_json(given), (RECREATE, ROLLING_UPDATE))]
    rolling = strategy["rollingUpdate"]
    path = child(path, "rollingUpdate")
    missing, more = rolling["maxUnavailable"], rolling["maxSurge"]
    problems = share_problems(child(path, "maxUnavailable"), missing) + share_problems(child(path, "maxSurge"), more)
    if not share_value(missing) and not share_value(more):
        problems.append(invalid(child(path, "maxUnavailable"), missing, "may not be 0 when `maxSurge` is 0"))
    return problems + too_large_share_problems(child(path, "maxUnavailable"), missing)


def _collision_problems(new: Document, old: Document) -> list[str]:
    now = (new.get("status") or {}).get("collisionCount") or 0
    then = (old.get("status") or {}).get("collisionCount") or 0
    return [invalid("status.collisionCount", now, "cannot be decremented")] if now < then else []


class DaemonSetStrategy(TemplateStrategy):
    """The strategy of daemon sets."""

    change_first = True
    has_generation = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and the first status."""
        self.fill_in(new, context)
        new["status"] = dict.fromkeys(_DAEMON_COUNTS, 0)
        _set_template_generation(new, max(1, _template_generation(new)))

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and raise the template generation if the template changes."""
        self.fill_in(new, context)
        changed = new["spec"]["template"] != old["spec"]["template"]
        _set_template_generation(new, _template_generation(old) + changed)

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but status and metadata, and keep the template generation."""
        super().prepare_status(new, old, context)
        _set_template_generation(new, _template_generation(old))

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        super().fill_in(document, context)
        spec = document["spec"]
        updates = spec["updateStrategy"]
        if updates["type"] == ROLLING_UPDATE:
            rolling = part(updates, "rollingUpdate")
            for field, share in (("maxUnavailable", 1), ("maxSurge", 0)):
                if rolling.get(field) is None:
                    rolling[field] = share
        default_spec(part(part(spec, "template"), "spec"))

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a daemon set."""
        spec = document["spec"]
        selector, template = spec.get("selector"), spec["template"]
        problems = label_selector_problems("spec.selector", selector)
        with suppress(InvalidSelectorError):
            problems += match_problems(template, from_label_selector(as_selector(selector)))
        if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
            problems.append(invalid("spec.selector", shown(selector), "empty selector is invalid for daemonset"))
        problems += template_problems("spec.template", template) + restart_problems(template["spec"], "DaemonSet")
        problems += count_problems(spec, ("minReadySeconds", "revisionHistoryLimit"))
        return problems + _daemon_update_problems("spec.updateStrategy", spec["updateStrategy"])

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        return super().validate_status(new, old, context) + _collision_problems(new, old)


def _daemon_update_problems(path: str, updates: Document) -> list[str]:
    if updates["type"] == ON_DELETE:
        return []
    if updates["type"] != ROLLING_UPDATE:
        given = {"Type": updates["type"], "RollingUpdate": updates.get("rollingUpdate")}
        return [not_supported(path, as_json(given), (ROLLING_UPDATE, ON_DELETE))]
    rolling = updates["rollingUpdate"]
    problems = []
    for rule in (share_problems, too_large_share_problems):
        for field in ("maxUnavailable", "maxSurge"):
            problems += rule(f"{path}.rollingUpdate.{field}", rolling[field])
    missing, more = share_value(rolling["maxUnavailable"]), share_value(rolling["maxSurge"])
    if missing and more:
        why = "may not be set when maxUnavailable is non-zero"
        problems.append(invalid(f"{path}.rollingUpdate.maxSurge", rolling["maxSurge"], why))
    elif not missing and not more:
        problems.append(required(f"{path}.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return problems


def _template_generation(document: Document) -> int:
    text = (document["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "")
    return parse_int64(text) or 0


def _set_template_generation(document: Document, number: int) -> None:
    part(document["metadata"], "annotations")[TEMPLATE_GENERATION] = str(number)


class ControllerRevisionStrategy(KindStrategy):
    """The strategy of controller revisions, whose data is immutable."""

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new revision."""
        problems = self.problems(new, context)
        data = new.get("data")
        if data is None:
            problems.append(required("data", "data is mandatory"))
        elif not isinstance(data, dict):
            problems.append(required("data", "data must be a valid JSON object"))
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        return immutable("data", new.get("data"), old.get("data"))
