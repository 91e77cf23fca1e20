"""The name of the platform in the notation of Go and container images: `linux/amd64`."""

import platform

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def platform_name() -> str:
    """Return the operating system and the machine in Go's notation (`linux/amd64`)."""
    machine = platform.machine()
    return f"{platform.system().lower()}/{_MACHINES.get(machine, machine)}"
