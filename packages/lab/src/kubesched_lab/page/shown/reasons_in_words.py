"""Why a pod is pending, in plain words: from the message of its condition PodScheduled.

From a scheduler's message ("0/9 nodes are available: 1 node(s) were unschedulable, 8 Insufficient cpu. ...") to the
wording of `kubesched explain` ("Fits nowhere: 8 lack cpu, 1 is cordoned"). A message of another form is returned
unchanged.
"""

import re
from functools import lru_cache
from typing import Final

from kubesched.reports.plain_words import counted

FITS_NOWHERE: Final = "Fits nowhere: "
_NODES: Final = re.compile(r"0/\d+ nodes are available: ")
_REASON: Final = re.compile(r"(\d+) (.+)", re.DOTALL)
# the message of preemption follows after a full stop
_END: Final = re.compile(r"\. (?=preemption:|no new claims to deallocate|not found$)|\.\s*$")
_NEXT: Final = re.compile(r", (?=\d+ )")


@lru_cache(maxsize=4096)
def in_plain_words(message: str) -> str:
    """Return why a pod fits on no node, the most frequent reason first."""
    start = _NODES.match(message)
    if start is None:
        return message
    told = _END.split(message[start.end() :], maxsplit=1)[0]
    reasons = [_REASON.fullmatch(part) for part in _NEXT.split(told)]
    if all(reasons):
        told = counted((found[2], int(found[1])) for found in reasons if found is not None)
    return FITS_NOWHERE + told
