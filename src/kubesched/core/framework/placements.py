"""Placements: sets of nodes among which all pods of a group find their places, or none.

From plugins that propose placements to the group's cycle, which tries them, and to plugins that compare those which
will do.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo


class Placement(msgspec.Struct, frozen=True):
    """Rows of the table that have a node; `name` is what people call them."""

    name: str
    rows: NDArray[np.intp]


class Assignments(msgspec.Struct, frozen=True):
    """The pods of a group that find a place in a placement."""

    placement: Placement
    pods: Sequence[PodInfo]
