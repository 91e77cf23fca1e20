"""The error of benchmarks that cannot be run, or do not end."""

from kubesched.errors import KubeschedError


class BenchError(KubeschedError):
    """A benchmark that cannot be run, or does not end; the message names the workload or the option."""
