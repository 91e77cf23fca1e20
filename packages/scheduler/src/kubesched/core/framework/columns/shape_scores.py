"""Piecewise linear score functions of utilisation, from the configuration.

From shape points to the function's value at every whole percentage.
"""

# upstream: plugins/helper/shape_score.go (v1.36)

from collections.abc import Sequence
from typing import Final

from kubesched.config.args import UtilizationShapePoint
from kubesched.config.types import MAX_CUSTOM_PRIORITY_SCORE
from kubesched.core.framework.plugin import MAX_NODE_SCORE

FULL: Final = 100


def shape_scores(shape: Sequence[UtilizationShapePoint]) -> list[int]:
    """Return the scores at 0 to 100 per cent; without points, which no valid configuration lacks, all are 0."""
    scale = MAX_NODE_SCORE // MAX_CUSTOM_PRIORITY_SCORE
    points = [(point.utilization, point.score * scale) for point in shape]
    return [_broken_linear(points, share) for share in range(FULL + 1)]


def _broken_linear(points: Sequence[tuple[int, int]], at: int) -> int:
    """Return the value of the function through the points, constant before the first and after the last."""
    for index, (x, y) in enumerate(points):
        if at <= x:
            if index == 0:
                return y
            before_x, before_y = points[index - 1]
            rise = (y - before_y) * (at - before_x)
            run = x - before_x
            # truncated, not rounded down
            return before_y + (rise // run if rise >= 0 else -(-rise // run))
    return points[-1][1] if points else 0
