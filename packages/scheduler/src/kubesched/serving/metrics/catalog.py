"""The reference's metrics: names, kinds, labels, buckets, texts and stability, as served on /metrics.

Data only; the modules beside this one update the metrics.
"""

# upstream: pkg/scheduler/metrics/metrics.go, volumebinding/metrics, component-base/metrics/prometheus (v1.36)

from kubesched.serving.metrics.families import BETA, COUNTER, GAUGE, HISTOGRAM, STABLE, Metric, exponential

_MILLISECONDS = exponential(0.001, 2, 15)
_TENTHS_OF_MILLISECONDS = exponential(0.0001, 2, 12)
_FINE = exponential(0.00001, 1.5, 20)
_FINEST = exponential(0.00001, 2, 12)
_LONG = exponential(0.01, 2, 20)

# -- attempts

ATTEMPTS = Metric(
    "scheduler_schedule_attempts_total",
    COUNTER,
    "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while "
    "'error' means an internal scheduler problem.",
    ("result", "profile"),
    stability=STABLE,
)
ATTEMPT_DURATION = Metric(
    "scheduler_scheduling_attempt_duration_seconds",
    HISTOGRAM,
    "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
    ("result", "profile"),
    _MILLISECONDS,
    STABLE,
)
ALGORITHM_DURATION = Metric(
    "scheduler_scheduling_algorithm_duration_seconds",
    HISTOGRAM,
    "Scheduling algorithm latency in seconds",
    (),
    _MILLISECONDS,
)
# the reference serves these three only with the gate GenericWorkload
GROUP_ATTEMPTS = Metric(
    "scheduler_podgroup_schedule_attempts_total",
    COUNTER,
    "Number of attempts to schedule pod group, by the result. 'unschedulable' means a pod group could not be "
    "scheduled, while 'error' means an internal scheduler problem.",
    ("result", "profile"),
)
GROUP_ATTEMPT_DURATION = Metric(
    "scheduler_podgroup_scheduling_attempt_duration_seconds",
    HISTOGRAM,
    "Pod group scheduling attempt latency in seconds (scheduling algorithm + binding)",
    ("result", "profile"),
    _MILLISECONDS,
)
GROUP_ALGORITHM_DURATION = Metric(
    "scheduler_podgroup_scheduling_algorithm_duration_seconds",
    HISTOGRAM,
    "Pod group scheduling algorithm latency in seconds",
    (),
    _MILLISECONDS,
)
POINT_DURATION = Metric(
    "scheduler_framework_extension_point_duration_seconds",
    HISTOGRAM,
    "Latency for running all plugins of a specific extension point.",
    ("extension_point", "status", "profile"),
    _TENTHS_OF_MILLISECONDS,
    STABLE,
)
PLUGIN_DURATION = Metric(
    "scheduler_plugin_execution_duration_seconds",
    HISTOGRAM,
    "Duration for running a plugin at a specific extension point.",
    ("plugin", "extension_point", "status"),
    _FINE,
)
PLUGIN_EVALUATIONS = Metric(
    "scheduler_plugin_evaluation_total",
    COUNTER,
    "Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, Filter, "
    "PreScore, and Score).",
    ("plugin", "extension_point", "profile"),
    stability=BETA,
)
POD_ATTEMPTS = Metric(
    "scheduler_pod_scheduling_attempts",
    HISTOGRAM,
    "Number of attempts to successfully schedule a pod.",
    (),
    exponential(1, 2, 5),
    STABLE,
)
POD_DURATION = Metric(
    "scheduler_pod_scheduling_sli_duration_seconds",
    HISTOGRAM,
    "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve "
    "multiple scheduling attempts.",
    ("attempts",),
    _LONG,
    BETA,
)
AFTER_FLUSH = Metric(
    "scheduler_pod_scheduled_after_flush_total",
    COUNTER,
    "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to timeout. This "
    "metric helps detect potential queueing hint misconfigurations or event handling issues.",
)
PERMIT_WAIT = Metric(
    "scheduler_permit_wait_duration_seconds",
    HISTOGRAM,
    "Duration of waiting on permit.",
    ("result",),
    _MILLISECONDS,
    BETA,
)

# -- the queue and event handlers

INCOMING_PODS = Metric(
    "scheduler_queue_incoming_pods_total",
    COUNTER,
    "Number of pods added to scheduling queues by event and queue type.",
    ("queue", "event"),
    stability=STABLE,
)
PENDING_PODS = Metric(
    "scheduler_pending_pods",
    GAUGE,
    "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of "
    "pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to "
    "schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule "
    "because they are gated.",
    ("queue",),
    stability=STABLE,
)
UNSCHEDULABLE_PODS = Metric(
    "scheduler_unschedulable_pods",
    GAUGE,
    "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that "
    "caused it to not schedule and so this metric have meaning only when broken down by plugin.",
    ("plugin", "profile"),
    stability=BETA,
)
IN_FLIGHT_EVENTS = Metric(
    "scheduler_inflight_events",
    GAUGE,
    "Number of events currently tracked in the scheduling queue.",
    ("event",),
)
HINT_DURATION = Metric(
    "scheduler_queueing_hint_execution_duration_seconds",
    HISTOGRAM,
    "Duration for running a queueing hint function of a plugin.",
    ("plugin", "event", "hint"),
    _FINE,
)
EVENT_DURATION = Metric(
    "scheduler_event_handling_duration_seconds",
    HISTOGRAM,
    "Event handling latency in seconds.",
    ("event",),
    _TENTHS_OF_MILLISECONDS,
)
CACHE_SIZE = Metric(
    "scheduler_cache_size",
    GAUGE,
    "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
    ("type",),
)
OPERATIONS = Metric(
    "scheduler_goroutines",
    GAUGE,
    "Number of running goroutines split by the work they do such as binding.",
    ("operation",),
    stability=BETA,
)

# -- preemption

PREEMPTION_ATTEMPTS = Metric(
    "scheduler_preemption_attempts_total",
    COUNTER,
    "Total preemption attempts in the cluster till now",
    stability=STABLE,
)
PREEMPTION_VICTIMS = Metric(
    "scheduler_preemption_victims",
    HISTOGRAM,
    "Number of selected preemption victims",
    (),
    exponential(1, 2, 7),
    STABLE,
)
PREEMPTION_DURATION = Metric(
    "scheduler_preemption_goroutines_duration_seconds",
    HISTOGRAM,
    "Duration in seconds for running goroutines for the preemption.",
    ("result",),
    _LONG,
)
PREEMPTIONS = Metric(
    "scheduler_preemption_goroutines_execution_total",
    COUNTER,
    "Number of preemption goroutines executed.",
    ("result",),
)

# -- single plugins

CLAIM_CREATES = Metric(
    "scheduler_resourceclaim_creates_total",
    COUNTER,
    "Number of ResourceClaims creation requests within scheduler",
    ("status",),
)
CONDITION_ALLOCATIONS = Metric(
    "scheduler_dra_bindingconditions_allocations_total",
    COUNTER,
    "Number of allocations using devices with BindingConditions, counted per driver per scheduling attempt",
    ("profile", "driver", "status"),
)
CONDITION_WAIT = Metric(
    "scheduler_dra_bindingconditions_wait_duration_seconds",
    HISTOGRAM,
    "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.",
    ("profile", "driver", "status"),
    exponential(0.1, 2, 14),
)
BINDER_CACHE_REQUESTS = Metric(
    "scheduler_volume_binder_cache_requests_total",
    COUNTER,
    "Total number for request volume binding cache",
    ("operation",),
)
VOLUME_STAGE_ERRORS = Metric(
    "scheduler_volume_scheduling_stage_error_total",
    COUNTER,
    "Volume scheduling stage error count",
    ("operation",),
)

# -- batches, which do not exist here: columns are shared by all pods of a kind, always

BATCH_ATTEMPTS = Metric(
    "scheduler_batch_attempts_total",
    COUNTER,
    "Counts of results when we attempt to use batching.",
    ("profile", "result"),
)
BATCH_FLUSHES = Metric(
    "scheduler_batch_cache_flushed_total", COUNTER, "Counts of cache flushes by reason.", ("profile", "reason")
)
NODE_HINT_DURATION = Metric(
    "scheduler_get_node_hint_duration_seconds",
    HISTOGRAM,
    "Latency for getting a node hint.",
    ("hinted", "profile"),
    _FINEST,
)
STORE_RESULTS_DURATION = Metric(
    "scheduler_store_schedule_results_duration_seconds", HISTOGRAM, "Latency for getting a no.", ("profile",), _FINEST
)

# -- the client

_REQUEST_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_BYTES = (64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0)

REQUESTS = Metric(
    "rest_client_requests_total",
    COUNTER,
    "Number of HTTP requests, partitioned by status code, method, and host.",
    ("code", "method", "host"),
)
REQUEST_RETRIES = Metric(
    "rest_client_request_retries_total",
    COUNTER,
    "Number of request retries, partitioned by status code, verb, and host.",
    ("code", "verb", "host"),
)
REQUEST_DURATION = Metric(
    "rest_client_request_duration_seconds",
    HISTOGRAM,
    "Request latency in seconds. Broken down by verb, and host.",
    ("verb", "host"),
    _REQUEST_SECONDS,
)
REQUEST_SIZE = Metric(
    "rest_client_request_size_bytes",
    HISTOGRAM,
    "Request size in bytes. Broken down by verb and host.",
    ("verb", "host"),
    _BYTES,
)
RESPONSE_SIZE = Metric(
    "rest_client_response_size_bytes",
    HISTOGRAM,
    "Response size in bytes. Broken down by verb and host.",
    ("verb", "host"),
    _BYTES,
)
LIMITER_DURATION = Metric(
    "rest_client_rate_limiter_duration_seconds",
    HISTOGRAM,
    "Client side rate limiter latency in seconds. Broken down by verb, and host.",
    ("verb", "host"),
    _REQUEST_SECONDS,
)
MASTER_STATUS = Metric(
    "leader_election_master_status",
    GAUGE,
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' "
    "is the string used to identify the lease. Please make sure to group by name.",
    ("name",),
)
SLOW_PATH = Metric(
    "leader_election_slowpath_total",
    COUNTER,
    "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. "
    "Please make sure to group by name.",
    ("name",),
)

# -- the process

BUILD_INFO = Metric(
    "kubernetes_build_info",
    GAUGE,
    "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, "
    "Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    (
        "major",
        "minor",
        "git_version",
        "git_commit",
        "git_tree_state",
        "build_date",
        "go_version",
        "compiler",
        "platform",
    ),
    stability=BETA,
)
FEATURE_ENABLED = Metric(
    "kubernetes_feature_enabled",
    GAUGE,
    "This metric records the data about the stage and enablement of a k8s feature.",
    ("name", "stage"),
    stability=BETA,
)
VERSION_INFO = Metric(
    "version_info",
    GAUGE,
    "Provides the compatibility version info of the component. The component label is the name of the component, "
    "usually kube, but is relevant for aggregated-apiservers.",
    ("component", "binary", "emulation", "min_compat"),
)
LOOP_LAG = Metric(
    "kubesched_loop_lag_seconds",
    HISTOGRAM,
    "How much later than asked the event loop came back, measured once a second. kubesched only.",
    (),
    _MILLISECONDS,
)

CONFIG_RELOADS = Metric(
    "kubesched_config_reloads_total",
    COUNTER,
    "How often the configuration was read again (--reload), by the result: 'applied' if it is in force, 'unchanged' if "
    "it differs in nothing that can change without a restart, 'refused' if it is bad. kubesched only.",
    ("result",),
)
CONFIG_LAST_RESULT = Metric(
    "kubesched_config_last_reload_successful",
    GAUGE,
    "Whether the configuration could be used when it was read last; 0 if the last good one stays in force. kubesched "
    "only.",
)
CONFIG_IN_FORCE = Metric(
    "kubesched_config_in_force_timestamp_seconds",
    GAUGE,
    "Since when the configuration is in force, in seconds of the epoch. kubesched only.",
)
CONFIG_GENERATION = Metric(
    "kubesched_config_generation",
    GAUGE,
    "How many configurations were in force, this one included. kubesched only.",
)

# -- metrics about metrics

REGISTERED = Metric(
    "registered_metrics_total",
    COUNTER,
    "The count of registered metrics broken by stability level and deprecation version.",
    ("stability_level", "deprecated_version"),
    stability=BETA,
)
DISABLED = Metric("disabled_metrics_total", COUNTER, "The count of disabled metrics.", stability=BETA)
HIDDEN = Metric("hidden_metrics_total", COUNTER, "The count of hidden metrics.", stability=BETA)
UNEXPECTED_LABELS = Metric(
    "cardinality_enforcement_unexpected_categorizations_total",
    COUNTER,
    "The count of unexpected categorizations during cardinality enforcement.",
)

# -- /metrics/resources and /metrics/slis

_POD_LABELS = ("namespace", "pod", "node", "scheduler", "priority", "resource", "unit")
_EXPECTED = "This shows the resource usage the scheduler and kubelet expect per pod for resources along with the unit "
POD_REQUEST = Metric(
    "kube_pod_resource_request",
    GAUGE,
    f"Resources requested by workloads on the cluster, broken down by pod. {_EXPECTED}for the resource if any.",
    _POD_LABELS,
    stability=STABLE,
)
POD_LIMIT = Metric(
    "kube_pod_resource_limit",
    GAUGE,
    f"Resources limit for workloads on the cluster, broken down by pod. {_EXPECTED}for the resource if any.",
    _POD_LABELS,
    stability=STABLE,
)
HEALTH_CHECK = Metric(
    "kubernetes_healthcheck",
    GAUGE,
    "This metric records the result of a single healthcheck.",
    ("name", "type"),
    stability=STABLE,
)
HEALTH_CHECKS = Metric(
    "kubernetes_healthchecks_total",
    COUNTER,
    "This metric records the results of all healthcheck.",
    ("name", "type", "status"),
    stability=STABLE,
)
PROCESS_START = Metric("process_start_time_seconds", GAUGE, "Start time of the process since unix epoch in seconds.")
