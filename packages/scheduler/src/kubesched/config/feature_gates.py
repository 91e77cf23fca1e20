"""Feature gates: the names, stages, defaults and locks of the reference, by version.

In: `--feature-gates` text or a mapping, and the version to emulate. Out: a `FeatureGates` with all gates resolved, so
that `enabled` is a dictionary lookup. Unknown, locked and not yet existing gates are errors, as are enabled gates
whose dependencies are off.
"""

# upstream: component-base/featuregate/feature_gate.go, component-base/compatibility/registry.go (v1.36)

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import NamedTuple

import msgspec

from kubesched.api.go_text import quote
from kubesched.api.release import MAJOR, MINOR
from kubesched.config.errors import ConfigError, Stage


class Version(NamedTuple):
    """A minor release."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


BINARY_VERSION = Version(MAJOR, MINOR)
# The reference emulates itself and the three releases before it.
OLDEST_VERSION = Version(MAJOR, MINOR - 3)

_COMPONENT = "kube"
_VERSION = re.compile(r"\s*v?(0|[1-9][0-9]{0,8})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?.*", re.DOTALL)
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
_ALL_OF_STAGE = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}

# upstream: pkg/features/kube_features.go (v1.36): a gate may only be on while the gates it depends on are.
_DEPENDENCIES = """
    AuthorizeNodeWithSelectors: AuthorizeWithSelectors
    ClusterTrustBundleProjection: ClusterTrustBundle
    DRAAdminAccess: DynamicResourceAllocation
    DRAConsumableCapacity: DynamicResourceAllocation
    DRADeviceBindingConditions: DRAResourceClaimDeviceStatus DynamicResourceAllocation
    DRADeviceTaintRules: DRADeviceTaints
    DRADeviceTaints: DynamicResourceAllocation
    DRAExtendedResource: DynamicResourceAllocation
    DRAListTypeAttributes: DynamicResourceAllocation
    DRANodeAllocatableResources: DynamicResourceAllocation
    DRAPartitionableDevices: DynamicResourceAllocation
    DRAPrioritizedList: DynamicResourceAllocation
    DRAResourceClaimGranularStatusAuthorization: DRAResourceClaimDeviceStatus DynamicResourceAllocation
    DRAResourcePoolStatus: DynamicResourceAllocation
    DRASchedulerFilterTimeout: DynamicResourceAllocation
    DRAWorkloadResourceClaims: DynamicResourceAllocation GenericWorkload
    DeclarativeValidationBeta: DeclarativeValidation
    DeclarativeValidationTakeover: DeclarativeValidation
    DisableAllocatorDualWrite: MultiCIDRServiceAllocator
    ExtendWebSocketsToKubelet: NodeDeclaredFeatures
    GangScheduling: GenericWorkload
    GracefulNodeShutdownBasedOnPodPriority: GracefulNodeShutdown
    ImageVolumeWithDigest: ImageVolume
    InPlacePodLevelResourcesVerticalScaling: InPlacePodVerticalScaling NodeDeclaredFeatures PodLevelResources
    InPlacePodVerticalScalingExclusiveCPUs: InPlacePodVerticalScaling
    InPlacePodVerticalScalingExclusiveMemory: InPlacePodVerticalScaling
    InPlacePodVerticalScalingInitContainers: InPlacePodVerticalScaling NodeDeclaredFeatures
    MatchLabelKeysInPodTopologySpreadSelectorMerge: MatchLabelKeysInPodTopologySpread
    PodCertificateRequest: AuthorizeNodeWithSelectors
    PodLevelResourceManagers: PodLevelResources
    PodLifecycleSleepActionAllowZero: PodLifecycleSleepAction
    ProcMountType: UserNamespacesSupport
    ResourceHealthStatus: DynamicResourceAllocation
    ResourceHealthStatusMessage: ResourceHealthStatus
    RestartAllContainersOnContainerExits: ContainerRestartRules NodeDeclaredFeatures
    ServiceAccountTokenNodeBinding: ServiceAccountTokenNodeBindingValidation
    StaleControllerConsistencyDaemonSet: AtomicFIFO
    StaleControllerConsistencyJob: AtomicFIFO
    StaleControllerConsistencyReplicaSet: AtomicFIFO
    StaleControllerConsistencyStatefulSet: AtomicFIFO
    StorageVersionAPI: APIServerIdentity
    StructuredAuthenticationConfigurationEgressSelector: StructuredAuthenticationConfiguration
    StructuredAuthenticationConfigurationJWKSMetrics: StructuredAuthenticationConfiguration
    TopologyAwareWorkloadScheduling: GenericWorkload
    UnknownVersionInteroperabilityProxy: APIServerIdentity
    UserNamespacesHostNetworkSupport: NodeDeclaredFeatures UserNamespacesSupport
    WindowsGracefulNodeShutdown: GracefulNodeShutdown
    WorkloadAwarePreemption: GangScheduling
    WorkloadWithJob: GenericWorkload
"""
DEPENDENCIES: dict[str, tuple[str, ...]] = {
    name.strip(): tuple(needed.split())
    for name, _, needed in (line.partition(":") for line in _DEPENDENCIES.strip().splitlines())
}


class GateSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The stage, default and lock of a gate from one version on."""

    version: str
    stage: str
    default: bool
    lock_to_default: bool


_UNBORN = GateSpec("0.0", "PRE-ALPHA", default=False, lock_to_default=False)


@functools.cache
def _known() -> dict[str, list[GateSpec]]:
    """Return every gate with its history, oldest first."""
    data = resources.files(__package__).joinpath("feature_gates.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, list[GateSpec]])


def _parse_version(text: str) -> tuple[Version, int]:
    """Return major.minor and the patch number of a version text."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ConfigError(Stage.GATES, [f"could not parse {quote(text)} as version"])
    return Version(int(match[1]), int(match[2])), int(match[3] or 0)


@functools.cache
def _specs_at(version: Version) -> dict[str, GateSpec]:
    """Return the spec of each gate at `version`."""
    specs = {}
    for name, history in _known().items():
        reached = (spec for spec in reversed(history) if _parse_version(spec.version)[0] <= version)
        specs[name] = next(reached, _UNBORN)
    return specs


def parse_emulated_version(values: Iterable[str]) -> Version:
    """Return the version of `--emulated-version` values (`1.35`, `kube=1.35`); by default the reference's own."""
    chosen: Version | None = None
    for value in values:
        component, _, text = value.rpartition("=")
        component = component.strip() or _COMPONENT
        version, patch = _parse_version(text.strip())
        if patch:
            raise ConfigError(Stage.GATES, [f"patch version not allowed, got: {component}={version}.{patch}"])
        if component != _COMPONENT:
            raise ConfigError(Stage.GATES, [f"component not registered: {component}"])
        if chosen is not None:
            pair = f"{component}={chosen} and {component}={version}"
            raise ConfigError(Stage.GATES, [f"duplicate version flag, {pair}"])
        chosen = version
    if chosen is None:
        return BINARY_VERSION
    if not OLDEST_VERSION <= chosen <= BINARY_VERSION:
        allowed = f"[{OLDEST_VERSION}, {BINARY_VERSION}.0]"
        raise ConfigError(Stage.GATES, [f"emulation version {chosen} is not between {allowed}"])
    return chosen


def parse_flag(text: str) -> dict[str, bool]:
    """Return the settings in `--feature-gates` text: `A=true,B=false`, each optionally prefixed with `kube:`."""
    settings: dict[str, bool] = {}
    components: set[str] = set()
    for part in filter(None, text.split(",")):
        component, colon, pair = part.partition(":")
        components.add(component.strip() if colon else "")
        name, equals, value = (pair if colon else part).partition("=")
        name, value = name.strip(), value.strip()
        if not equals:
            raise ConfigError(Stage.GATES, [f"missing bool value for {name}"])
        if value not in _BOOLEANS:
            problem = f"strconv.ParseBool: parsing {quote(value)}: invalid syntax"
            raise ConfigError(Stage.GATES, [f"invalid value of {name}={value}, err: {problem}"])
        settings[name] = _BOOLEANS[value]
    if components >= {"", _COMPONENT}:
        problem = "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"
        raise ConfigError(Stage.GATES, [problem])
    strangers = components - {"", _COMPONENT}
    if strangers:
        raise ConfigError(Stage.GATES, [f"component not registered: {name}" for name in sorted(strangers)])
    return settings


class FeatureGates:
    """The state of all feature gates. Immutable; an unknown name is a KeyError, since names come from code only."""

    __slots__ = ("_enabled", "explicit", "version")

    def __init__(self, settings: Mapping[str, bool] | None = None, version: Version = BINARY_VERSION) -> None:
        self.version = version
        self.explicit: dict[str, bool] = dict(settings or {})
        self._enabled = _resolve(self.explicit, version)

    @classmethod
    def parse(cls, text: str, emulated_version: Iterable[str] = ()) -> FeatureGates:
        """Return the gates of `--feature-gates` and `--emulated-version`."""
        return cls(parse_flag(text), parse_emulated_version(emulated_version))

    def enabled(self, name: str) -> bool:
        """Return whether the gate is on."""
        return self._enabled[name]

    __getitem__ = enabled

    def stage(self, name: str) -> str:
        """Return the gate's stage at this version: ALPHA, BETA, GA, DEPRECATED or PRE-ALPHA."""
        return _specs_at(self.version)[name].stage

    def all(self) -> Mapping[str, bool]:
        """Return every known gate and whether it is on."""
        return dict(self._enabled)

    def __repr__(self) -> str:
        return f"FeatureGates({self.explicit!r}, version={str(self.version)!r})"


def _resolve(settings: Mapping[str, bool], version: Version) -> dict[str, bool]:
    """Return every gate's state under `settings`."""
    specs = _specs_at(version)
    unknown = [f"unrecognized feature gate: {name}" for name in settings if name not in specs]
    if unknown:
        raise ConfigError(Stage.GATES, unknown)
    errors = [problem for name, value in settings.items() if (problem := _refused(name, value, specs[name], version))]
    if errors:
        raise ConfigError(Stage.GATES, errors)
    enabled = {name: spec.default for name, spec in specs.items()}
    # A gate's own setting overrides AllAlpha and AllBeta, in whatever order they are given.
    for group, stage in _ALL_OF_STAGE.items():
        if group in settings:
            members = (name for name, spec in specs.items() if spec.stage == stage and name not in _ALL_OF_STAGE)
            enabled |= dict.fromkeys(members, settings[group])
    enabled |= settings
    errors = [
        f"{name} is enabled, but depends on features that are disabled: [{' '.join(missing)}]"
        for name, needed in DEPENDENCIES.items()
        if enabled[name] and (missing := [other for other in needed if not enabled[other]])
    ]
    if errors:
        raise ConfigError(Stage.GATES, errors)
    return enabled


def _refused(name: str, value: bool, spec: GateSpec, version: Version) -> str | None:
    change = f"cannot set feature gate {name} to {str(value).lower()}"
    if spec.lock_to_default and spec.default != value:
        return f"{change}, feature is locked to {str(spec.default).lower()}"
    if spec.stage == _UNBORN.stage:
        compatible = max(Version(version.major, version.minor - 1), OLDEST_VERSION)
        return f"{change}, feature is PreAlpha at emulated version {version}, min compatibility version {compatible}"
    return None
