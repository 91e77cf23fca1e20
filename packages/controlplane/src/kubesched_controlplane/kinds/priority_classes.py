"""The strategy of priority classes."""

# upstream: pkg/registry/scheduling/priorityclass, pkg/apis/scheduling/validation, plugin/pkg/admission/priority (v1.36)

from kubesched.api.field_errors import forbidden, required
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import forbidden as refused
from kubesched_controlplane.kinds.checks import immutable, one_of
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext
from kubesched_controlplane.storage.store import Stored

HIGHEST_USER_PRIORITY = 1_000_000_000
# name -> value
SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_SYSTEM_PREFIX = "system-"


class PriorityClassStrategy(KindStrategy):
    """The strategy of priority classes."""

    has_generation = True

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults. Raises ApiError 403 for a second global default."""
        if document.get("preemptionPolicy") is None:
            document["preemptionPolicy"] = "PreemptLowerPriority"
        document.setdefault("value", 0)
        if document.get("globalDefault"):
            _check_only_default(document["metadata"].get("name", ""), context)

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new priority class."""
        name, value = new["metadata"].get("name") or "", new["value"]
        problems = []
        if name.startswith(_SYSTEM_PREFIX):
            if wrong := _system_class_problem(name, value, bool(new.get("globalDefault"))):
                why = f"priority class names with '{_SYSTEM_PREFIX}' prefix are reserved for system use only."
                problems.append(forbidden("metadata.name", f"{why} error: {wrong}"))
        elif value > HIGHEST_USER_PRIORITY:
            why = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
            problems.append(forbidden("value", why))
        policies = ("PreemptLowerPriority", "Never")
        if not new["preemptionPolicy"]:
            problems.append(required("preemptionPolicy"))
        elif new["preemptionPolicy"] not in policies:
            problems += one_of("preemptionPolicy", new["preemptionPolicy"], policies)
        return problems

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change."""
        problems = []
        if new["value"] != old["value"]:
            problems.append(forbidden("value", "may not be changed in an update."))
        return problems + immutable("preemptionPolicy", new["preemptionPolicy"], old.get("preemptionPolicy"))

    def check_delete(self, stored: Stored, context: StrategyContext) -> None:
        """Raise ApiError 403 for the system classes."""
        if stored.name in SYSTEM_PRIORITIES:
            why = "this is a system priority class and cannot be deleted"
            raise refused(context.resource, stored.name, why)


def _system_class_problem(name: str, value: int, is_default: bool) -> str:
    """Return how a class differs from the system class of its name, an empty text if it does not."""
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_PRIORITIES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def _check_only_default(name: str, context: StrategyContext) -> None:
    """Raise ApiError 403 if another class is the global default."""
    for stored in context.store.set_of(context.resource.prefix):
        if stored.name != name and b'"globalDefault":true' in stored.body:
            why = f"PriorityClass {stored.name} is already marked as default. Only one default can exist"
            raise refused(context.resource, name, why)
