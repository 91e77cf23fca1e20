"""An object that a workload creates: a value between the modules that create objects and the code that sends them."""

from typing import Any, NamedTuple

Document = dict[str, Any]


class MadeObject(NamedTuple):
    """A document, its source, and a key that it shares with documents that differ only in their names."""

    document: Document
    where: str
    alike: str = ""
    # the claim in the only volume of a pod, which pods with the same key do not share
    claim: str = ""

    @property
    def kind(self) -> str:
        """Return the kind of the object."""
        return str(self.document.get("kind", ""))

    @property
    def name(self) -> str:
        """Return the name of the object."""
        return str(self.document["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Return the namespace of the object, empty if it has none."""
        return str(self.document["metadata"].get("namespace", ""))
