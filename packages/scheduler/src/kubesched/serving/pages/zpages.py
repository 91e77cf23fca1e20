"""/statusz and /flagz: the version, the start time and the flags of the process; as text for people, or as objects.

From facts to one of three forms, and CBOR behind its gate. The reference chooses one of four delimiters for the text
at random; here it is always the same.
"""

# upstream: apiserver/pkg/server/{statusz,flagz} (v1.36)

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

import msgspec

from kubesched.serving.pages.negotiation import CBOR, TEXT, YAML, MediaType, accepted, encoded, not_acceptable
from kubesched.serving.requests import JSON, PLAIN, PageRequest, PageResponse

GROUP = "config.k8s.io"
VERSIONS = ("v1alpha1", "v1beta1")
_DEPRECATED = ("v1alpha1",)
_OFFERED = (JSON, YAML, TEXT)
_WARNING = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "
    "for debugging purposes only."
)


class ComponentVersions(msgspec.Struct, frozen=True):
    """The binary version and the emulation version, without a "v" before them."""

    binary: str
    emulation: str = ""


class ZPage:
    """A page about a component, as a text and as an object of a kind."""

    def __init__(
        self, component: str, kind: str, facts: Callable[[], Mapping[str, Any]], text: Callable[[], str]
    ) -> None:
        self._component = component
        self._kind = kind
        self._facts = facts
        self._text = text
        self._offered: Sequence[str] = _OFFERED

    def with_cbor(self, offered: bool) -> "ZPage":
        """Return the page, also in CBOR if that is offered."""
        self._offered = (*_OFFERED, CBOR) if offered else _OFFERED
        return self

    def answer(self, request: PageRequest) -> PageResponse:
        """Return the page in a media type that the client accepts."""
        wanted = request.headers.get("Accept", "").strip()
        for media in accepted(wanted or TEXT):
            for form in self._offered:
                if media.covers(form) and self._suits(media, form):
                    return self._written(media, form, request)
        return not_acceptable(request, self._offered)

    def _suits(self, media: MediaType, form: str) -> bool:
        if {"stream", "sv"} & {name for name, value in media.parameters.items() if value}:
            return False
        wanted = media.conversion
        if form == TEXT:
            return wanted is None
        return wanted is not None and wanted in [(GROUP, version, self._kind) for version in VERSIONS]

    def _written(self, media: MediaType, form: str, request: PageRequest) -> PageResponse:
        name = self._kind.lower()
        if media.conversion is None:
            text = f"\n{self._component} {name}\n{_WARNING}\n{self._text()}"
            return PageResponse(text.encode(), content_type=PLAIN)
        _, version, kind = media.conversion
        value = {
            "kind": kind,
            "apiVersion": f"{GROUP}/{version}",
            "metadata": {"name": self._component},
            **self._facts(),
        }
        warning = f'299 - "This version of the {name} endpoint is deprecated. Please use a newer version."'
        return PageResponse(
            encoded(value, form, request),
            content_type=f"{form};g={GROUP};v={version};as={kind}",
            headers={"Warning": warning} if version in _DEPRECATED else {},
        )


def flagz(component: str, flags: Callable[[], Mapping[str, str]]) -> ZPage:
    """Return the page about flags."""

    def text() -> str:
        return "".join(f"{name}: {value}\n" for name, value in sorted(flags().items()))

    return ZPage(component, "Flagz", lambda: {"flags": dict(sorted(flags().items()))}, text)


def statusz(component: str, started_at: float, versions: ComponentVersions, paths: Sequence[str]) -> ZPage:
    """Return the page about the process; `started_at` is in seconds of the epoch, `paths` are the listed paths."""
    started = datetime.fromtimestamp(int(started_at), UTC)
    folders = sorted({f"/{path.split('/')[1]}" for path in paths if path.strip("/")})

    def up() -> int:
        return max(0, int(time.time() - started_at))

    def facts() -> Mapping[str, Any]:
        found = {
            "startTime": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "uptimeSeconds": up(),
            # differs (D-111): the API prescribes the name of this field
            "goVersion": f"python{platform.python_version()}",
            "binaryVersion": versions.binary,
            "emulationVersion": versions.emulation,
            "paths": folders,
        }
        return {name: value for name, value in found.items() if value != ""}

    def text() -> str:
        hours, rest = divmod(up(), 3600)
        lines = [
            f"Started: {started.strftime('%a %b %e %H:%M:%S UTC %Y')}",
            f"Up: {hours} hr {rest // 60:02d} min {rest % 60:02d} sec",
            f"Python version: {platform.python_version()}",
            f"Binary version: {versions.binary}",
            f"Emulation version: {versions.emulation}" if versions.emulation else "",
            f"Paths: {' '.join(folders)}",
        ]
        return "\n" + escape("\n".join(lines)) + "\n"

    return ZPage(component, "Statusz", facts, text)
