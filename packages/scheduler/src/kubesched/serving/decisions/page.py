"""/debug/decisions: the last decisions as JSON, the newest first.

From the parameters of a request (`pod=NAMESPACE/NAME`, `limit=N`) to the bytes of the page; safe in any thread.
"""

from collections.abc import Callable, Mapping, Sequence

from kubesched.serving.decisions.ring import DEFAULT_LIMIT, DecisionRing
from kubesched.serving.requests import JSON, NO_SNIFF, PageRequest, PageResponse, refused

PATH = "/debug/decisions"
MOST_DECISIONS = 10_000

Query = Mapping[str, Sequence[str]]


def page_body(ring: DecisionRing, query: Query) -> bytes:
    """Return the page for the parameters of a request; raises ValueError for invalid ones."""
    pod = next(iter(query.get("pod") or ()), "")
    if pod and pod.count("/") != 1:
        raise ValueError(f"pod={pod}: expected NAMESPACE/NAME")
    text = next(iter(query.get("limit") or ()), "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0):
        raise ValueError(f"limit={text}: expected a positive number")
    limit = int(text) if text else DEFAULT_LIMIT
    return ring.page(pod, min(limit, MOST_DECISIONS)).to_json()


def decisions_page(ring: DecisionRing) -> Callable[[PageRequest], PageResponse]:
    """Return the page of a ring."""

    def answer(request: PageRequest) -> PageResponse:
        if request.method not in ("GET", "HEAD"):
            return refused("405 Method Not Allowed", 405)
        try:
            return PageResponse(page_body(ring, request.query), 200, JSON, NO_SNIFF)
        except ValueError as problem:
            return refused(str(problem), 400)

    return answer
