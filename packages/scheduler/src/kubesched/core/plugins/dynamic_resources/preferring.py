"""The preference score of an allocation: alternatives that come first in a request are preferred."""

# upstream: dynamicresources.go, computeScore (v1.36)

from typing import Final

from kubesched.api.devices import AllocationResult, ResourceClaim

# The score of the first alternative of a request.
# upstream: api/resource/v1/types.go, FirstAvailableDeviceRequestMaxSize (v1.36)
MOST_ALTERNATIVES: Final = 8


def preference_score(claim: ResourceClaim, allocation: AllocationResult) -> int:
    """Return the preference score of the alternatives that were allocated to a claim."""
    taken = {result.request for result in allocation.devices.results if result.request.count("/") == 1}
    if not taken:
        return 0
    return sum(
        MOST_ALTERNATIVES - rank
        for request in claim.spec.devices.requests
        if request.exactly is None
        for rank, alternative in enumerate(request.first_available)
        if f"{request.name}/{alternative.name}" in taken
    )
