"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) as frozen structs.

One set of structs serves reading, the completed configuration and writing. A field's default is the value that the
reference fills in where the field is absent or null; defaults that depend on other fields or on feature gates are in
`defaults`. `omit_empty` names the fields that are left out of the written form when they are empty.
"""

# upstream: staging/src/k8s.io/kube-scheduler/config/v1/types.go, pkg/scheduler/apis/config/types.go (v1.36)

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from kubesched.config.golang import Duration
from kubesched.config.redacting import without_password

API_GROUP = "kubescheduler.config.k8s.io"
API_VERSION = f"{API_GROUP}/v1"
KIND = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER_NAME = "default-scheduler"
MAX_CUSTOM_PRIORITY_SCORE = 10

Int32 = Annotated[int, msgspec.Meta(title="int32", ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(title="int64", ge=-(2**63), le=2**63 - 1)]
Float32 = Annotated[float, msgspec.Meta(title="float32")]


class ConfigStruct(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of every struct of the configuration."""

    omit_empty: ClassVar[frozenset[str]] = frozenset()


class LeaderElection(ConfigStruct, frozen=True, kw_only=True):
    """Settings of leader election; zero values are replaced in `defaults`."""

    leader_elect: bool = True
    lease_duration: Duration = Duration()
    renew_deadline: Duration = Duration()
    retry_period: Duration = Duration()
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnection(ConfigStruct, frozen=True, kw_only=True):
    """The connection to the API server; zero values are replaced in `defaults`."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: Float32 = 0.0
    burst: Int32 = 0


class Plugin(ConfigStruct, frozen=True, kw_only=True):
    """A plugin by name; the weight counts at score and placementScore only, where 0 means 1."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(ConfigStruct, frozen=True, kw_only=True):
    """The plugins that are enabled and disabled at one extension point."""

    omit_empty = frozenset({"enabled", "disabled"})

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(ConfigStruct, frozen=True, kw_only=True):
    """The plugin sets of a profile; multiPoint stands for every extension point a plugin implements."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()

    def at(self, point: str) -> PluginSet:
        """Return the set of the extension point with wire name `point`."""
        found: PluginSet = getattr(self, PLUGIN_SET_FIELDS[point])
        return found

    def names(self) -> set[str]:
        """Return the names of all plugins that are enabled anywhere."""
        return {plugin.name for point in PLUGIN_SET_FIELDS for plugin in self.at(point).enabled}


PLUGIN_SET_FIELDS: dict[str, str] = {field.encode_name: field.name for field in msgspec.structs.fields(Plugins)}


class PluginArgs(ConfigStruct, frozen=True, kw_only=True):
    """Base of the typed arguments of in-tree plugins."""


class RawArgs(ConfigStruct, frozen=True, kw_only=True):
    """Arguments of an out-of-tree plugin: the plain value as written."""

    value: Any = None


class PluginConfig(ConfigStruct, frozen=True, kw_only=True):
    """The arguments of one plugin."""

    name: str = ""
    args: PluginArgs | RawArgs | None = None


class Profile(ConfigStruct, frozen=True, kw_only=True):
    """One scheduler name with its plugins."""

    omit_empty = frozenset({"percentage_of_nodes_to_score", "plugin_config"})

    scheduler_name: str = ""
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()

    def args(self, plugin: str) -> PluginArgs | RawArgs | None:
        """Return the arguments of `plugin`, or None where it has none."""
        return next((config.args for config in self.plugin_config if config.name == plugin), None)


class ExtenderManagedResource(ConfigStruct, frozen=True, kw_only=True):
    """A resource an extender accounts for."""

    omit_empty = frozenset({"ignored_by_scheduler"})

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(ConfigStruct, frozen=True, kw_only=True):
    """TLS settings of an extender; files are read when connections are opened."""

    omit_empty = frozenset(
        {"insecure", "server_name", "cert_file", "key_file", "ca_file", "cert_data", "key_data", "ca_data"}
    )

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class Extender(ConfigStruct, frozen=True, kw_only=True):
    """An HTTP service that filters, scores, preempts or binds beside the plugins."""

    omit_empty = frozenset(
        {
            "filter_verb",
            "preempt_verb",
            "prioritize_verb",
            "weight",
            "bind_verb",
            "enable_https",
            "tls_config",
            "node_cache_capable",
            "managed_resources",
            "ignorable",
        }
    )

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = Duration()
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False

    @property
    def shown_url(self) -> str:
        """Return the address as it may be written into events and logs, without a password."""
        # differs (D-104): the reference writes the password, too
        return without_password(self.url_prefix)


class KubeSchedulerConfiguration(ConfigStruct, frozen=True, kw_only=True):
    """The whole configuration."""

    omit_empty = frozenset({"profiles", "extenders", "delay_cache_until_active"})

    parallelism: Int32 = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
