"""The errors of an allocation, other than that there is no solution.

AllocationError               a claim, class or slice is invalid: the search ends for all nodes
├── FailedOnNodeError         the search failed on this node only: it is rejected with the error's text
│   └── TooMuchWorkError      the search on the node takes too long (`budget`)
└── AllocationTimeoutError    the caller's deadline has passed
"""

from kubesched.errors import KubeschedError


class AllocationError(KubeschedError):
    """An allocation that failed with an error; the text is the reference's."""


class FailedOnNodeError(AllocationError):
    """An allocation that failed on this node; other nodes may still be tried."""


class AllocationTimeoutError(AllocationError):
    """A search that was ended by the caller's deadline."""
