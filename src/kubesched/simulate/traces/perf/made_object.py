"""An object that a workload creates, as a value between those who make objects and those who send or simulate them."""

from typing import Any, NamedTuple

Document = dict[str, Any]


class MadeObject(NamedTuple):
    """A document, where it is from, and a text that it shares with those that differ from it in their names alone."""

    document: Document
    where: str
    alike: str = ""
    # the claim that is the only volume of a pod, which those that are alike do not share
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
