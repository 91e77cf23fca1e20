"""The ways in which an allocation fails other than by there being no solution.

AllocationError               a claim, class or slice is wrong: the search ends for all nodes
├── FailedOnNodeError         only this node cannot be judged: it is rejected with the error's text
│   └── TooMuchWorkError      finding devices there takes too long (`budget`)
└── AllocationTimeoutError    the caller's time was up
"""

from kubesched.errors import KubeschedError


class AllocationError(KubeschedError):
    """An allocation that cannot be judged; the text is the reference's."""


class FailedOnNodeError(AllocationError):
    """An allocation that failed for a reason of this node's; other nodes may still be tried."""


class AllocationTimeoutError(AllocationError):
    """A search that was cut off by the caller's deadline."""
