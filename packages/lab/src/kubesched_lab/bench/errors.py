"""The error of benchmarks that cannot run, or do not end."""

from kubesched.errors import KubeschedError


class BenchError(KubeschedError):
    """A benchmark cannot run, or does not end; the message names the workload or the option."""
