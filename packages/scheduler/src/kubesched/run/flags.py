"""The flags of `kubesched run`: kube-scheduler v1.36's, with its names, types and defaults.

Data only; the modules that read the flags decide their effect. Flags without a meaning here are accepted, with a
note.
"""

# upstream: cmd/kube-scheduler/app/options, apiserver/pkg/server/options, component-base (v1.36)

from kubesched.api.release import GIT_VERSION
from kubesched.config.feature_gates import BINARY_VERSION, OLDEST_VERSION
from kubesched.run.go_flags import Flag, FlagGroup

_WITH_CONFIG = "Ignored when --config is given."

MISC = FlagGroup(
    "Misc",
    (
        Flag("config", "string", "Path of the configuration file (KubeSchedulerConfiguration)."),
        Flag(
            "reload",
            "bool",
            "Apply a changed --config file, or a mounted ConfigMap, without a restart; SIGHUP reads it at "
            "once. A bad file is refused as a whole, and the last good configuration stays in force. Needs --config. "
            "kubesched only.",
        ),
        Flag("master", "string", "Address of the Kubernetes API server; overrides the kubeconfig."),
        Flag("write-config-to", "string", "Write the completed configuration to this file and exit."),
        Flag(
            "plugin",
            "strings",
            "Load out-of-tree plugins from a module, a file or module:attribute. kubesched only; installed packages "
            "with entry points in kubesched.plugins are found by themselves.",
        ),
    ),
)
WATCHDOG = FlagGroup(
    "Watchdog",
    (
        Flag(
            "scheduling-loop-timeout",
            "duration",
            "How long the scheduling loop may stand still, as in a plugin that hangs, before /livez and /healthz fail, "
            "the Lease is given up and the process exits with code 1; 0 for as long as it likes. kubesched only.",
            "30s",
        ),
    ),
)
RECORDS = FlagGroup(
    "Records",
    (
        Flag(
            "decision-record-memory",
            "quantity",
            "Memory for the last decisions, e.g. 16Mi; they are served at /debug/decisions. 0 records none. kubesched "
            "only.",
            "0",
        ),
    ),
)
LEGACY = FlagGroup(
    "Legacy (v1.21 and earlier)",
    (
        Flag(
            "algorithm-provider",
            "string",
            "DefaultProvider or ClusterAutoscalerProvider; translated to the profile that does the same.",
            deprecated="yes",
        ),
        Flag(
            "policy-config-file",
            "string",
            "A scheduler policy file; translated to the profile that does the same, which is printed.",
            deprecated="yes",
        ),
        Flag(
            "policy-configmap",
            "string",
            "Name of a ConfigMap with a scheduler policy under the key policy.cfg.",
            deprecated="yes",
        ),
        Flag(
            "policy-configmap-namespace",
            "string",
            "Namespace of that ConfigMap.",
            "kube-system",
            deprecated="yes",
        ),
    ),
)
SECURE_SERVING = FlagGroup(
    "Secure serving",
    (
        Flag("bind-address", "ip", "IP address to serve HTTPS on; 0.0.0.0 or :: for all of them.", "0.0.0.0"),
        Flag(
            "cert-dir",
            "string",
            "Directory with the serving certificate and key, kube-scheduler.crt and .key; made there when missing. "
            "Ignored with --tls-cert-file and --tls-private-key-file; empty keeps a self-signed one in memory.",
        ),
        Flag("disable-http2-serving", "bool", "Accepted; HTTP/2 is not served."),
        Flag("http2-max-streams-per-connection", "int", "Accepted; HTTP/2 is not served."),
        Flag("permit-address-sharing", "bool", "Bind the port with SO_REUSEADDR."),
        Flag("permit-port-sharing", "bool", "Bind the port with SO_REUSEPORT."),
        Flag("secure-port", "int", "Port to serve HTTPS on; 0 serves nothing.", "10259"),
        Flag("tls-cert-file", "string", "File with the serving certificate, followed by its CA certificates."),
        Flag("tls-cipher-suites", "strings", "Cipher suites to offer, by their Go names; all safe ones by default."),
        Flag("tls-curve-preferences", "int32Slice", "Accepted; the platform's key exchanges are used.", "[]"),
        Flag("tls-min-version", "string", "VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13."),
        Flag("tls-private-key-file", "string", "File with the key that belongs to --tls-cert-file."),
        Flag(
            "tls-sni-cert-key",
            "namedCertKey",
            "A pair of certificate and key file with the names it is for: crt,key or crt,key:a.example,b.example. May "
            "be repeated.",
            "[]",
        ),
    ),
)
AUTHENTICATION = FlagGroup(
    "Authentication",
    (
        Flag(
            "authentication-kubeconfig",
            "string",
            "kubeconfig for TokenReviews; without it all tokens are rejected.",
        ),
        Flag("authentication-skip-lookup", "bool", "Do not look up client CAs in the cluster."),
        Flag("authentication-token-webhook-cache-ttl", "duration", "How long TokenReviews are cached.", "10s"),
        Flag(
            "authentication-tolerate-lookup-failure",
            "bool",
            "Start even if client CAs cannot be looked up in the cluster.",
            "true",
        ),
        Flag("client-ca-file", "string", "CAs of client certificates that authenticate users."),
        Flag("requestheader-allowed-names", "strings", "Common names of proxies that may authenticate users."),
        Flag("requestheader-client-ca-file", "string", "CAs of proxies that may authenticate users."),
        Flag(
            "requestheader-extra-headers-prefix",
            "strings",
            "Prefixes of headers with more about the user.",
            "[x-remote-extra-]",
        ),
        Flag("requestheader-group-headers", "strings", "Headers with the user's groups.", "[x-remote-group]"),
        Flag("requestheader-uid-headers", "strings", "Headers with the user's UID."),
        Flag("requestheader-username-headers", "strings", "Headers with the user's name.", "[x-remote-user]"),
    ),
)
AUTHORIZATION = FlagGroup(
    "Authorization",
    (
        Flag(
            "authorization-always-allow-paths",
            "strings",
            "Paths that need no authorization.",
            "[/healthz,/readyz,/livez]",
        ),
        Flag("authorization-kubeconfig", "string", "kubeconfig for SubjectAccessReviews."),
        Flag("authorization-webhook-cache-authorized-ttl", "duration", "How long an allowed request is cached.", "10s"),
        Flag("authorization-webhook-cache-unauthorized-ttl", "duration", "How long a denied request is cached.", "10s"),
    ),
)
DEPRECATED = FlagGroup(
    "Deprecated",
    (
        Flag(
            "contention-profiling",
            "bool",
            f"Accepted; Go's profiles do not exist here. {_WITH_CONFIG}",
            "true",
            "",
            "yes",
        ),
        Flag("kube-api-burst", "int32", f"Requests to the API server in one burst. {_WITH_CONFIG}", "100", "", "yes"),
        Flag(
            "kube-api-content-type",
            "string",
            f"Accepted; JSON is spoken. {_WITH_CONFIG}",
            "application/vnd.kubernetes.protobuf",
            "",
            "yes",
        ),
        Flag("kube-api-qps", "float32", f"Requests to the API server a second. {_WITH_CONFIG}", "50", "", "yes"),
        Flag("kubeconfig", "string", f"kubeconfig file: server and credentials. {_WITH_CONFIG}", "", "", "yes"),
        Flag(
            "pod-max-in-unschedulable-pods-duration",
            "duration",
            "How long a pod waits for a helpful event before it is tried again anyway.",
            "5m0s",
            "",
            "yes",
        ),
        Flag("profiling", "bool", f"Serve /debug/pprof/. {_WITH_CONFIG}", "true", "", "yes"),
    ),
)
LEADER_ELECTION = FlagGroup(
    "Leader election",
    (
        Flag(
            "leader-elect", "bool", "Schedule only while holding the Lease, so that several replicas can run.", "true"
        ),
        Flag(
            "leader-elect-lease-duration",
            "duration",
            "How long other replicas wait after a renewal before they take the Lease.",
            "15s",
        ),
        Flag(
            "leader-elect-renew-deadline",
            "duration",
            "How long the leader tries to renew before it gives up and exits; less than the lease duration.",
            "10s",
        ),
        Flag("leader-elect-resource-lock", "string", "Kind of the lock: leases.", "leases"),
        Flag("leader-elect-resource-name", "string", "Name of the Lease.", "kube-scheduler"),
        Flag("leader-elect-resource-namespace", "string", "Namespace of the Lease.", "kube-system"),
        Flag("leader-elect-retry-period", "duration", "Time between two attempts to get or renew it.", "2s"),
    ),
)
FEATURE_GATES = FlagGroup(
    "Feature gate",
    (
        Flag(
            "emulated-version",
            "strings",
            f"Behave as this version, e.g. 1.35 or kube=1.35; {OLDEST_VERSION} to {BINARY_VERSION}.",
        ),
        Flag(
            "feature-gates",
            "colonSeparatedMultimapStringString",
            "Feature gates, e.g. DRAConsumableCapacity=false; kube:Name=true is the same.",
        ),
        Flag("min-compatibility-version", "strings", "Accepted; at most the emulated version."),
    ),
)
METRICS = FlagGroup(
    "Metrics",
    (
        Flag("allow-metric-labels", "stringToString", "Values that a label of a metric may have.", "[]"),
        Flag("allow-metric-labels-manifest", "string", "File with allowed label values under allowListMapping."),
        Flag("disabled-metrics", "strings", "Metrics to leave out, by their full names."),
        Flag("show-hidden-metrics-for-version", "string", "Show metrics hidden since this minor version."),
    ),
)
LOGS = FlagGroup(
    "Logs",
    (
        Flag("log-flush-frequency", "duration", "Longest time between two flushes.", "5s"),
        Flag("log-json-info-buffer-size", "quantity", "JSON with split streams: bytes to buffer."),
        Flag("log-json-split-stream", "bool", "JSON: errors to standard error, the rest to standard output."),
        Flag("log-text-info-buffer-size", "quantity", "Text with split streams: bytes to buffer."),
        Flag("log-text-split-stream", "bool", "Text: errors to standard error, the rest to standard output."),
        Flag("logging-format", "string", 'The log format: "json" or "text".', "text"),
        Flag("v", "Level", "Log verbosity, 0 to 10.", "0", "v"),
        Flag("vmodule", "pattern=N,...", "Levels for some modules (text format only)."),
    ),
)
GLOBAL = FlagGroup(
    "Global",
    (
        Flag("help", "bool", "Show this text.", "", "h"),
        Flag(
            "version",
            "version",
            f"Show the version and exit; =raw shows more, ={GIT_VERSION}-x is reported instead.",
            "false",
        ),
    ),
)

GROUPS = (
    MISC,
    SECURE_SERVING,
    AUTHENTICATION,
    AUTHORIZATION,
    DEPRECATED,
    LEADER_ELECTION,
    WATCHDOG,
    RECORDS,
    FEATURE_GATES,
    METRICS,
    LOGS,
    LEGACY,
    GLOBAL,
)
