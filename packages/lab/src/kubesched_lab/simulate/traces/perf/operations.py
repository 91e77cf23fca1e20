"""The operations of scheduler_perf's workloads, one struct for each opcode.

From the entries of a `workloadTemplate` to checked values, and from those and the parameters of a workload to
operations without parameters.
"""

# upstream: test/integration/scheduler_perf/operations.go, dra.go, update.go (v1.36)

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from kubesched.config.golang import parse_duration
from kubesched_lab.simulate.errors import TraceError

replace = msgspec.structs.replace
Params = Mapping[str, Any]
LARGEST_COUNT = 1_000_000


class _Opcode(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", tag_field="opcode", omit_defaults=True
):
    """An operation; fields that end in Param name a parameter of the workload, as $name."""


class NodeAllocatableStrategy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The limits of nodes, and of the CSI drivers on them."""

    node_allocatable: dict[str, str] = {}
    csi_node_allocatable: dict[str, dict[str, Any] | None] = {}
    migrated_plugins: list[str] = []


class LabelNodePrepareStrategy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A label of nodes, with values that are used in turns."""

    label_key: str
    label_values: list[str]


class UniqueNodeLabelStrategy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A label of nodes, with a distinct value for each node."""

    label_key: str


class CreateNodes(_Opcode, frozen=True, tag="createNodes"):
    """Create nodes."""

    count: int = 0
    count_param: str = ""
    node_template_path: str | None = None
    node_allocatable_strategy: NodeAllocatableStrategy | None = None
    label_node_prepare_strategy: LabelNodePrepareStrategy | None = None
    unique_node_label_strategy: UniqueNodeLabelStrategy | None = None


class CreateNamespaces(_Opcode, frozen=True, tag="createNamespaces"):
    """Create namespaces PREFIX-0, PREFIX-1, ..."""

    prefix: str
    count: int = 0
    count_param: str = ""
    namespace_template_path: str | None = None


class CreatePods(_Opcode, frozen=True, tag="createPods"):
    """Create pods and wait for them, unless the operation says otherwise; or create and delete them continuously."""

    count: int = 0
    count_param: str = ""
    steady_state: bool = False
    steady_state_param: str = ""
    duration: str = ""
    duration_param: str = ""
    collect_metrics: bool = False
    namespace: str | None = None
    pod_template_path: str | None = None
    skip_wait_to_completion: bool = False
    persistent_volume_template_path: str | None = None
    persistent_volume_claim_template_path: str | None = None


class CreatePodSets(_Opcode, frozen=True, tag="createPodSets"):
    """Create pods in namespaces PREFIX-0, PREFIX-1, ..."""

    namespace_prefix: str
    create_pods_op: CreatePods
    count: int = 0
    count_param: str = ""


class DeletePods(_Opcode, frozen=True, tag="deletePods"):
    """Delete the pods of a namespace, all at once or at a rate."""

    namespace: str
    label_selector: dict[str, str] = {}
    skip_wait_to_completion: bool = False
    delete_pods_per_second: int = 0


class Churn(_Opcode, frozen=True, tag="churn"):
    """Create objects (`create`), or create and delete them in turns (`recreate`), until the workload ends."""

    mode: str
    template_paths: list[str]
    number: int = 0
    interval_milliseconds: int = 0
    namespace: str | None = None


class PodBarrier(_Opcode, frozen=True, tag="barrier"):
    """Wait for earlier pods: until they are scheduled, or (Attempted) were tried at least once."""

    namespaces: list[str] = []
    label_selector: dict[str, str] = {}
    stage_requirement: str = "Scheduled"


class Pause(_Opcode, frozen=True, tag="sleep"):
    """Let time pass."""

    duration: str = ""
    duration_param: str = ""


class StartCollecting(_Opcode, frozen=True, tag="startCollectingMetrics"):
    """Begin to measure."""

    namespaces: list[str]
    name: str = ""
    label_selector: dict[str, str] = {}


class StopCollecting(_Opcode, frozen=True, tag="stopCollectingMetrics"):
    """End the measurement."""


class CreateAny(_Opcode, frozen=True, tag="createAny"):
    """Create objects of any kind."""

    template_path: str
    namespace: str = ""
    count: int | None = None
    count_param: str = ""


class UpdateAny(_Opcode, frozen=True, tag="updateAny"):
    """Update objects of any kind, all at once or at a rate."""

    template_path: str
    namespace: str = ""
    count: int | None = None
    count_param: str = ""
    update_per_second: int = 0
    subresources: list[str] = []


class CreateResourceClaims(_Opcode, frozen=True, tag="createResourceClaims"):
    """Create ResourceClaims."""

    namespace: str
    template_path: str
    count: int = 0
    count_param: str = ""


class CreateResourceDriver(_Opcode, frozen=True, tag="createResourceDriver"):
    """Publish a number of devices of a driver on each node whose name matches a glob."""

    driver_name: str
    nodes: str
    max_claims_per_node: int = 0
    max_claims_per_node_param: str = ""


class AllocResourceClaims(_Opcode, frozen=True, tag="allocResourceClaims"):
    """Allocate devices to claims without pods."""

    namespace: str = ""


Operation = (
    CreateNodes
    | CreateNamespaces
    | CreatePods
    | CreatePodSets
    | DeletePods
    | Churn
    | PodBarrier
    | Pause
    | StartCollecting
    | StopCollecting
    | CreateAny
    | UpdateAny
    | CreateResourceClaims
    | CreateResourceDriver
    | AllocResourceClaims
)
OperationT = TypeVar("OperationT", bound=Operation)
OPCODES: dict[str, type[Operation]] = {str(kind.__struct_config__.tag): kind for kind in Operation.__args__}
# the type of a parameter, by the field that it fills
_WANTED = {"count": int, "max_claims_per_node": int, "duration": str, "steady_state": bool}


def operation_of(entry: Any, where: str) -> Operation:
    """Return the operation of an entry; raises TraceError, which begins with `where`."""
    if not isinstance(entry, dict) or "opcode" not in entry:
        raise TraceError(f"{where}: expected an operation with an `opcode`")
    opcode = entry["opcode"]
    kind = OPCODES.get(opcode) if isinstance(opcode, str) else None
    if kind is None:
        raise TraceError(f"{where}: there is no opcode {opcode!r}; opcodes are {', '.join(OPCODES)}")
    if isinstance(entry.get("createPodsOp"), dict):
        # the reference does not check the opcode of that one
        entry = {**entry, "createPodsOp": {"opcode": "createPods", **entry["createPodsOp"]}}
    try:
        operation = msgspec.convert(entry, kind)
    except msgspec.ValidationError as error:
        raise TraceError(f"{where} ({opcode}): {error}") from None
    for problem in _problems(operation):
        raise TraceError(f"{where} ({opcode}): {problem}")
    return operation


def with_params(operation: OperationT, params: Params, used: set[str], where: str) -> OperationT:
    """Return an operation with the parameters filled in; adds their names to `used`. Raises TraceError."""
    opcode = operation.__struct_config__.tag
    changes: dict[str, Any] = {}
    for field, wanted in _WANTED.items():
        text = getattr(operation, f"{field}_param", "")
        if not text:
            continue
        name, shown = text.removeprefix("$"), f"{where} ({opcode}): {_camel(field)}Param {text}"
        used.add(name)
        if name not in params:
            raise TraceError(f"{shown}: the workload has no parameter {name!r}; it has {', '.join(params) or 'none'}")
        value = params[name]
        if isinstance(value, float) and wanted is int and value.is_integer():
            value = int(value)
        if type(value) is not wanted:
            raise TraceError(f"{shown}: parameter {name} is {value!r}; expected {_NOUNS[wanted]}")
        changes |= {field: value, f"{field}_param": ""}
    filled = replace(operation, **changes)
    for problem in _problems(filled):
        raise TraceError(f"{where} ({opcode}): {problem}")
    return filled


_NOUNS = {int: "a whole number", str: "a text", bool: "true or false"}


def _camel(field: str) -> str:
    first, *others = field.split("_")
    return first + "".join(other.title() for other in others)


def seconds_of(operation: CreatePods | Pause) -> float:
    """Return the duration of an operation."""
    return parse_duration(operation.duration).seconds if operation.duration else 0.0


def _problems(operation: Operation) -> Iterator[str]:
    """Yield the faults of an operation; parameters that are not filled in yet are ignored."""
    for field in _WANTED:
        param = getattr(operation, f"{field}_param", "")
        if param and not param.startswith("$"):
            yield f"{_camel(field)}Param is {param!r}; expected a parameter such as ${param}"
    for field in ("count", "max_claims_per_node", "number"):
        number = getattr(operation, field, None)
        if number is not None and not 0 <= number <= LARGEST_COUNT:
            yield f"{_camel(field)} is {number}; expected a number from 0 to {LARGEST_COUNT}"
    if isinstance(operation, CreatePods | Pause) and operation.duration:
        try:
            if parse_duration(operation.duration).seconds < 0:
                yield f"duration is {operation.duration}, which is negative"
        except ValueError as error:
            yield f"duration: {error}"
    yield from _problems_of_creation(operation)
    yield from _problems_of_kind(operation)


def _problems_of_creation(operation: Operation) -> Iterator[str]:
    match operation:
        case CreatePods():
            if operation.collect_metrics and operation.skip_wait_to_completion:
                yield "collectMetrics and skipWaitToCompletion cannot both be true"
            if operation.skip_wait_to_completion and operation.steady_state:
                yield "skipWaitToCompletion and steadyState cannot both be true"
            if operation.steady_state and not operation.duration_param and not seconds_of(operation):
                yield "steadyState needs a duration"
            if operation.persistent_volume_claim_template_path and not operation.persistent_volume_template_path:
                yield "persistentVolumeClaimTemplatePath needs a persistentVolumeTemplatePath"
        case CreateNodes():
            strategies = (
                operation.node_allocatable_strategy,
                operation.label_node_prepare_strategy,
                operation.unique_node_label_strategy,
            )
            if sum(strategy is not None for strategy in strategies) > 1:
                yield "at most one strategy can be given"
            labels = operation.label_node_prepare_strategy
            if labels is not None and not labels.label_values:
                yield "labelNodePrepareStrategy.labelValues is empty"


def _problems_of_kind(operation: Operation) -> Iterator[str]:
    match operation:
        case Churn():
            if operation.mode not in ("create", "recreate"):
                yield f"mode is {operation.mode!r}; expected create or recreate"
            if operation.number < 0 or (operation.mode == "recreate" and not operation.number):
                yield f"number is {operation.number}; expected a number from {int(operation.mode == 'recreate')}"
            if operation.interval_milliseconds < 0:
                yield f"intervalMilliseconds is {operation.interval_milliseconds}, which is negative"
            if not operation.template_paths:
                yield "templatePaths is empty"
        case PodBarrier():
            if operation.stage_requirement not in ("Scheduled", "Attempted"):
                yield f"stageRequirement is {operation.stage_requirement!r}; expected Scheduled or Attempted"
        case StartCollecting():
            if not operation.namespaces:
                yield "namespaces is empty"
        case DeletePods():
            if operation.delete_pods_per_second < 0:
                yield f"deletePodsPerSecond is {operation.delete_pods_per_second}, which is negative"
        case UpdateAny():
            if operation.update_per_second < 0:
                yield f"updatePerSecond is {operation.update_per_second}, which is negative"
