"""The errors that kubesched raises on purpose: problems that a person can act on, one sentence for each.

A rejection is a value (`core.framework.Status`); an exception is a fault of the input or a bug. The tree, with the
package that defines each class:

    KubeschedError                          errors
    ├── ActionError                         page
    ├── AllocationError                     core
    │   ├── AllocationTimeoutError          core
    │   └── FailedOnNodeError               core
    │       └── TooMuchWorkError            core
    ├── ApiError                            controlplane
    ├── BenchError                          bench
    ├── BindingFailedError                  core
    ├── CelCompileError                     cel
    ├── CelRuntimeError                     cel
    │   ├── CelAbortError                   cel
    │   └── CelValueError                   cel
    ├── ClusterProcessError                 testing
    ├── ConfigError                         config
    ├── ConnectionLostError                 controlplane
    ├── DataError                           controlplane
    ├── ExtenderError                       client
    ├── FaultError                          controlplane
    ├── FlagError                           run
    ├── FormChangeError                     page
    ├── GivenUpError                        page
    ├── HttpError                           core
    ├── InvalidObjectError                  errors
    │   ├── InvalidQuantityError            api
    │   └── InvalidSelectorError            api
    ├── KubeconfigError                     errors
    ├── LogOptionError                      run
    ├── MetricOptionError                   serving
    ├── MissingDeviceError                  core
    ├── MissingDistributionError            common
    ├── NamedClusterError                   controlplane
    ├── NotBoundError                       core
    │   └── TooLateError                    core
    ├── NotReadyError                       core
    ├── OptionError                         run
    ├── OutOfSyncError                      core
    ├── PluginError                         errors
    ├── PoolError                           up
    ├── Refused                             client
    ├── RefusedRequestError                 page
    ├── ReloadError                         run
    ├── ReviewError                         serving
    ├── ScheduleError                       controlplane
    ├── ServingError                        serving
    ├── SweepError                          sweep
    ├── TraceError                          simulate
    ├── UnknownFormatError                  conformance
    ├── UnknownObjectError                  model
    ├── Unreachable                         client
    │   └── CredentialsError                client
    │       └── RefusedByIssuerError        client
    ├── UnreadableError                     cli
    ├── UnreadableFilesError                asking
    ├── UnreadableSnapshotError             asking
    ├── UnusableFileError                   common
    │   ├── MissingFileError                common
    │   └── TooLargeFileError               common
    ├── UnwritableError                     cli
    └── WebhookCallsNeededError             controlplane
"""


class KubeschedError(Exception):
    """Base of every error that kubesched raises on purpose."""


class InvalidObjectError(KubeschedError):
    """An object that does not have the shape Kubernetes gives it."""


class KubeconfigError(KubeschedError):
    """A kubeconfig that cannot be read or written; the text names the file, or the field."""


class PluginError(KubeschedError):
    """A plugin that cannot be loaded, or that broke its contract."""
