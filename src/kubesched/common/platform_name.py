"""The name of the platform, as Go and container images write it: from what Python says to `linux/amd64`."""

import platform

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def platform_name() -> str:
    """Return the operating system and the machine, as Go names them (`linux/amd64`)."""
    machine = platform.machine()
    return f"{platform.system().lower()}/{_MACHINES.get(machine, machine)}"
