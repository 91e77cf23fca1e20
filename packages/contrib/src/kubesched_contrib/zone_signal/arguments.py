"""Arguments of ZoneSignal: the server, the paths in its response, the node label.

In: `args` of a configuration. Out: the same, checked.
"""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

ZONE = "{zone}"


@dataclass(frozen=True)
class ZoneSignalArgs:
    """The source of a signal, and how it maps to nodes."""

    # with {zone}: one request for each name in `zones`
    url: str
    # sent with each request; a token becomes a bearer token
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    token: str = field(default="", repr=False)
    insecure_skip_verify: bool = False
    interval_seconds: float = 300.0
    timeout_seconds: float = 10.0
    # age after which a value does not count
    stale_after_seconds: float = 3600.0
    # keys and list indices, separated by dots: the path to the zones, and in each zone to its name and its value
    path: str = ""
    name_path: str = ""
    value_path: str = ""
    # the node label, and the source's names for its values
    topology_key: str = "topology.kubernetes.io/region"
    zones: dict[str, str] = field(default_factory=dict)
    prefer: Literal["Low", "High"] = "Low"

    def __post_init__(self) -> None:
        check_url(self.url)
        for name, value, least in (
            ("intervalSeconds", self.interval_seconds, 1.0),
            ("timeoutSeconds", self.timeout_seconds, 0.1),
            ("staleAfterSeconds", self.stale_after_seconds, 1.0),
        ):
            if not least <= value < float("inf"):
                raise ValueError(f"{name}: must be at least {least:g} seconds, got {value:g}")
        if self.stale_after_seconds < self.interval_seconds:
            raise ValueError(
                "staleAfterSeconds: must not be less than intervalSeconds: otherwise every value would be stale"
            )
        if ZONE in self.url and not self.zones:
            raise ValueError("zones: is empty; give the values for {zone} in the url")
        if ZONE in self.url and (self.path or self.name_path):
            raise ValueError("path and namePath: a response about one zone has only a valuePath")
        if not self.topology_key:
            raise ValueError("topologyKey: is empty; give a node label")


def check_url(url: str) -> None:
    """Raise ValueError for an invalid http URL; the message does not contain it."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise ValueError("url: write it as https://host/path")
