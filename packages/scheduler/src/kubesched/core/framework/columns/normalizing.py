"""Normalisation of raw scores to the range from 0 to 100.

From a plugin's raw scores of the feasible nodes to final ones; for plugins whose scores have no upper bound.
"""

import numpy as np
from numpy.typing import NDArray

from kubesched.core.framework.plugin import MAX_NODE_SCORE, MIN_NODE_SCORE
from kubesched.core.framework.values.status import Status, error


# upstream: framework/plugins/helper/normalize_score.go (v1.36)
def normalize_to_highest(scores: NDArray[np.int64], *, reverse: bool = False) -> NDArray[np.int64]:
    """Return the scores scaled so that the highest becomes 100, or with `reverse` 0; without a positive one all tie."""
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = truncated_quotient(scores * MAX_NODE_SCORE, highest)
    return MAX_NODE_SCORE - scaled if reverse else scaled


def truncated_quotient(dividends: NDArray[np.int64], divisor: int) -> NDArray[np.int64]:
    """Return the quotients by a positive divisor, rounded towards zero."""
    floored: NDArray[np.int64] = dividends // divisor
    if dividends.min(initial=0) >= 0:
        return floored
    return np.where(dividends < 0, -(-dividends // divisor), floored)


def invalid_score(plugin: str, score: int) -> Status:
    """Return the error about a plugin whose final score is out of range."""
    return error(
        f'plugin "{plugin}" returns an invalid score {score}, it should in the range of '
        f"[{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
    ).by(plugin)
