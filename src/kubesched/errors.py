"""The error tree.

A rejection is a value (`framework.Status`); an exception is a fault of the input or a bug.

    KubeschedError                something a person can act on; its text is one sentence per problem
    ├── InvalidObjectError        an object does not have the shape Kubernetes gives it; names object and field
    ├── ConfigError               the configuration cannot be used; carries the stage and every problem found
    ├── CelCompileError           a device selector is no expression over a device (drawn out in cel.errors)
    ├── CelRuntimeError           a device selector cannot be evaluated for a device
    ├── OutOfSyncError            something is assumed of an object that is gone or has changed (cluster.volumes)
    ├── ApiError                  a request that the embedded API server refuses, as Kubernetes says it
    ├── ConnectionLostError       an answer that never arrived; whether the request was carried out is not known
    ├── DataError                 a folder that a control plane cannot be kept in (controlplane.persistence)
    ├── FaultError                a text that names no faults (controlplane.faults)
    ├── KubeconfigError           a kubeconfig that cannot be written (controlplane) or used (client); names the field
    ├── Refused                   a request that an API server refused, with its words (client.rest)
    ├── Unreachable               a request without an answer (client.rest)
    │   └── CredentialsError      there are no credentials to send it with (client.credentials)
    ├── ServingError              the scheduler's pages cannot be served as configured; names the flag or file (serving)
    ├── ReviewError               an API server's answer to a review that cannot be understood (serving.reviews)
    └── PluginError               a plugin cannot be loaded, or broke its contract; names the plugin
"""


class KubeschedError(Exception):
    """Base of every error that kubesched raises on purpose."""


class InvalidObjectError(KubeschedError):
    """An object that does not have the shape Kubernetes gives it."""


class PluginError(KubeschedError):
    """A plugin that cannot be loaded, or that broke its contract."""
