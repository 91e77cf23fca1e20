"""Results of extenders, read as Go's decoder reads them.

From the bytes of an answer to values. Names of fields count in any case, and a null is as good as nothing.
"""

# upstream: kube-scheduler/extender/v1/types.go, whose fields have no names of their own in JSON (v1.36)

from typing import Annotated, TypeVar

import msgspec

from kubesched.api import tolerant_json
from kubesched.errors import InvalidObjectError

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
T = TypeVar("T")


class NodeMeta(msgspec.Struct, gc=False):
    """metadata of a node in a result."""

    name: str | None = None


class NodeItem(msgspec.Struct, gc=False):
    """A node in a result; only its name counts."""

    metadata: NodeMeta | None = None

    @property
    def name(self) -> str:
        """Return the node's name."""
        return (self.metadata.name if self.metadata is not None else None) or ""


class NodeItems(msgspec.Struct, forbid_unknown_fields=True):
    """A list of nodes in a result."""

    api_version: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="apiVersion")
    kind: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()
    items: list[NodeItem | None] | None = None


class FilterResult(msgspec.Struct, forbid_unknown_fields=True):
    """The result of filter."""

    Nodes: NodeItems | None = None
    NodeNames: list[str | None] | None = None
    FailedNodes: dict[str, str | None] | None = None
    FailedAndUnresolvableNodes: dict[str, str | None] | None = None
    Error: str | None = None


class HostPriority(msgspec.Struct, forbid_unknown_fields=True):
    """One score in the result of prioritize."""

    Host: str | None = None
    Score: Int64 | None = None


class MetaPod(msgspec.Struct, forbid_unknown_fields=True):
    """A victim in the result of preempt."""

    UID: str | None = None


class MetaVictims(msgspec.Struct, forbid_unknown_fields=True):
    """The victims on one node in the result of preempt."""

    Pods: list[MetaPod | None] | None = None
    NumPDBViolations: Int64 | None = None


class PreemptionResult(msgspec.Struct, forbid_unknown_fields=True):
    """The result of preempt."""

    NodeNameToMetaVictims: dict[str, MetaVictims | None] | None = None


class BindingResult(msgspec.Struct, forbid_unknown_fields=True):
    """The result of bind."""

    Error: str | None = None


def read_result(answer: bytes, kind: type[T]) -> T:
    """Decode the answer of an extender; raises InvalidObjectError if it cannot be decoded."""
    try:
        found = msgspec.json.decode(answer, type=kind | None)
    except tolerant_json.UNREADABLE:
        # names in another case are unknown fields
        try:
            found = msgspec.convert(tolerant_json.read(answer, kind, any_case=True), kind | None)
        except msgspec.ValidationError as error:
            raise InvalidObjectError(str(error)) from None
    return kind() if found is None else found
