"""The memory for the record of decisions, as `--decision-record-memory` gives it.

From a quantity to bytes.
"""

from kubesched.api.quantity import value_of

FLAG = "decision-record-memory"
DEFAULT_TEXT = "16Mi"
DEFAULT_BYTES = 16 << 20
# room for some decisions, and what a process still has room for
LEAST_BYTES = 64 << 10
MOST_BYTES = 16 << 30


def parse_memory(text: str) -> int:
    """Return the bytes of a quantity, 0 for no record; raises ValueError, or InvalidQuantityError if it is none."""
    found = value_of(text or "0")
    if found and not LEAST_BYTES <= found <= MOST_BYTES:
        raise ValueError(f"must be 0 or between {LEAST_BYTES >> 10}Ki and {MOST_BYTES >> 30}Gi, not {text}")
    return found
