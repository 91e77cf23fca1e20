"""/debug/pprof and /debug/flags: stacks and samples of the threads, and the log's verbosity.

From the interpreter's frames to texts; profiles that Go serves in its binary form are texts here, and profiles
without a counterpart are not served. Values of variables are never shown, since some are secret.
"""

# upstream: apiserver/pkg/server/routes/{profiling,flags}.go, net/http/pprof (v1.36)

import asyncio
import re
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from html import escape
from types import FrameType

from kubesched.api.go_text import quote
from kubesched.serving.requests import HTML, NO_SNIFF, PLAIN, PageRequest, PageResponse, refused

DEFAULT_SECONDS = 30.0
LONGEST_SECONDS = 300.0
SAMPLE_EVERY_SECONDS = 0.01
DEEPEST_STACK = 200
LARGEST_LEVEL = 2**31 - 1
_PROFILES = {
    "goroutine": "The stacks of all threads at this moment.",
    "profile": "What the threads did for a while, in collapsed stacks (for flame graphs). You can specify the duration "
    "in the seconds GET parameter.",
}


def stacks() -> str:
    """Return the stacks of all threads, the innermost call last."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    parts = []
    for ident, frame in sys._current_frames().items():
        lines = "".join(traceback.format_list(traceback.extract_stack(frame)))
        parts.append(f"thread {ident} [{names.get(ident, 'unknown')}]:\n{lines}")
    return "\n".join(parts)


class Profiler:
    """Samples the stacks of the other threads, for one client at a time."""

    def __init__(self) -> None:
        self._busy = False

    async def sample(self, seconds: float) -> str | None:
        """Return collapsed stacks with how often each was seen; None while a profile for another client is running."""
        if self._busy:
            return None
        self._busy = True
        try:
            return await _sample(seconds)
        finally:
            self._busy = False


async def _sample(seconds: float) -> str:
    loop, own = asyncio.get_running_loop(), threading.get_ident()
    counts: Counter[str] = Counter()
    end = loop.time() + seconds
    while loop.time() < end:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            if ident != own:
                counts[f"{names.get(ident, 'unknown')};{_collapsed(frame)}"] += 1
        await asyncio.sleep(SAMPLE_EVERY_SECONDS)
    return "".join(f"{stack} {count}\n" for stack, count in counts.most_common())


def _collapsed(frame: FrameType | None) -> str:
    """Return the calls of a stack, the outermost first."""
    calls: list[str] = []
    while frame is not None and len(calls) < DEEPEST_STACK:
        code = frame.f_code
        calls.append(f"{frame.f_globals.get('__name__', '?')}.{code.co_qualname}")
        frame = frame.f_back
    return ";".join(reversed(calls))


class DebugPages:
    """The pages under /debug; `set_verbosity` changes the log's verbosity."""

    def __init__(self, set_verbosity: Callable[[int], None]) -> None:
        self._set_verbosity = set_verbosity
        self._profiler = Profiler()

    async def answer(self, request: PageRequest) -> PageResponse | None:
        """Return the page of a path, None if it does not exist."""
        path = request.path
        if path == "/debug/pprof":
            body = b'<a href="/debug/pprof/">Found</a>.\n\n'
            return PageResponse(body, 302, HTML, {"Location": "/debug/pprof/"})
        if path.startswith("/debug/pprof/"):
            return await self._profile(path.removeprefix("/debug/pprof/"), request)
        if path == "/debug/flags/v":
            return await self._verbosity(request)
        if path == "/debug/flags" or path.startswith("/debug/flags/"):
            return PageResponse(
                _page("/debug/flags/", "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>"),
                200,
                HTML,
            )
        return None

    async def _profile(self, name: str, request: PageRequest) -> PageResponse:
        if not name:
            return PageResponse(_page("/debug/pprof/", _index()), 200, HTML, NO_SNIFF)
        if name == "goroutine":
            return PageResponse(stacks().encode("utf-8", "replace"), 200, PLAIN, NO_SNIFF)
        if name != "profile":
            return PageResponse(b"Unknown profile\n", 404, PLAIN, {**NO_SNIFF, "X-Go-Pprof": "1"})
        found = await self._profiler.sample(_seconds(request.parameter("seconds")))
        if found is None:
            return refused("Could not enable CPU profiling: cpu profiling already in use", 500)
        shown = {**NO_SNIFF, "Content-Disposition": 'attachment; filename="profile.txt"'}
        return PageResponse(found.encode("utf-8", "replace"), 200, PLAIN, shown)

    async def _verbosity(self, request: PageRequest) -> PageResponse:
        if request.method != "PUT":
            return _line("unsupported http method", 406)
        text = (await request.body()).decode("utf-8", "replace")
        if not re.fullmatch("[0-9]+", text):
            return _line(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax", 400)
        # Python converts no more than some thousands of digits
        if len(text.lstrip("0")) > len(str(LARGEST_LEVEL)) or int(text.lstrip("0") or "0") > LARGEST_LEVEL:
            return _line(f"strconv.ParseUint: parsing {quote(text)}: value out of range", 400)
        self._set_verbosity(int(text.lstrip("0") or "0"))
        return _line(f"successfully set klog.logging.verbosity to {text}", 200)


def _line(text: str, code: int) -> PageResponse:
    return PageResponse(f"{text}\n".encode(), code, "text/plain", NO_SNIFF)


def _seconds(text: str) -> float:
    """Return how long to sample; the default if the parameter is no number, as in Go."""
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) == 0:
        return DEFAULT_SECONDS
    return min(float(text), LONGEST_SECONDS)


def _index() -> str:
    rows = [f"<li><a href='{name}'>{name}</a>: {escape(words)}</li>" for name, words in _PROFILES.items()]
    return "Types of profiles available:\n<ul>\n" + "\n".join(rows) + "\n</ul>"


def _page(title: str, body: str) -> bytes:
    html = f"<html>\n<head>\n<title>{title}</title>\n</head>\n<body>\n{title}<br>\n<br>\n{body}\n</body>\n</html>\n"
    return html.encode()
