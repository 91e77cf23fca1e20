"""Placements: sets of nodes on which the pods of a group are placed together.

From plugins that generate placements to the group's cycle, which tries them, and to plugins that score those on which
the group fits.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo


class Placement(msgspec.Struct, frozen=True):
    """Rows of the table that have a node; `name` is for messages."""

    name: str
    rows: NDArray[np.intp]


class Assignments(msgspec.Struct, frozen=True):
    """The pods of a group that fit in a placement."""

    placement: Placement
    pods: Sequence[PodInfo]
