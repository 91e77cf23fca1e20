"""The cost limit of one evaluation of an expression."""

# upstream: api/resource/v1/types.go (v1.36)

from typing import Final

LIMIT: Final = 1_000_000
LIMIT_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"
