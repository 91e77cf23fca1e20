"""Declarations of kinds: everything that is particular to a built-in kind besides its shape."""

from collections.abc import Mapping
from enum import IntEnum

import msgspec

from kubesched_controlplane.api.resources import ALL_VERBS, Resource
from kubesched_controlplane.registry.strategy import Strategy

_UPDATE = ("get", "patch", "update")
STATUS: dict[str, tuple[str, ...]] = {"status": _UPDATE}
SCALABLE: dict[str, tuple[str, ...]] = {**STATUS, "scale": _UPDATE}
PROXY: dict[str, tuple[str, ...]] = {"proxy": ("create", "delete", "get", "patch", "update")}
# a connection to a container
STREAM = ("create", "get")
# reviews, which are answered and not stored
CREATE_ONLY = ("create",)
# resources that are computed when they are read
READ_ONLY = ("get", "list")
ALL_BUT_DELETE_COLLECTION = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")


class LoadOrder(IntEnum):
    """The order in which manifests are created: each object after the objects that it needs.

    Quotas are among the last: their status counts the objects that are loaded, which must not be charged again.
    """

    DEFINITIONS = 0
    NAMESPACES = 1
    CLASSES = 2
    CONFIGURATION = 3
    ROLE_BINDINGS = 4
    NODES = 5
    NODE_RESOURCES = 6
    VOLUMES = 7
    CLAIMS = 8
    SERVICES = 9
    OWNERS = 10
    POD_OWNERS = 11
    PODS = 12
    LAST = 13


class Declaration(msgspec.Struct, frozen=True):
    """One kind in one version; `sentence` describes the treatment of its objects, for the page of served kinds.

    A second version of a stored kind shares the strategy of the first. Without one, the strategy is the shared base.
    """

    resource: Resource
    sentence: str
    strategy: Strategy | None = None
    subresource_strategies: Mapping[str, Strategy] = {}
    load_order: LoadOrder = LoadOrder.LAST
