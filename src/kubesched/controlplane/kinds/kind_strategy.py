"""The form that most kinds' rules have: defaults and checks for new and changed objects alike, and what may not change.

From a kind's few methods to the steps of `Strategy`.
"""

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.registry.strategy import Strategy, StrategyContext

# what a status update leaves alone in the metadata, for the kinds that are strict about it
_OWNED_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


class KindStrategy(Strategy):
    """The strategy of a kind whose objects are defaulted and validated the same way on create and update."""

    has_generation = False
    # an update of the status leaves labels, annotations, finalizers and owners as they were
    status_keeps_metadata = False

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an object."""
        return []

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of an object."""
        return []

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults."""
        self.fill_in(new, context)

    def validate_create(self, new: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a new object."""
        return self.problems(new, context)

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults."""
        self.fill_in(new, context)

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a changed object, and with the change."""
        return self.problems(new, context) + self.change_problems(new, old, context)

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything as it was but the status, and fill in what it or the metadata leave out."""
        super().prepare_status(new, old, context)
        if self.status_keeps_metadata:
            for field in _OWNED_METADATA:
                new["metadata"].pop(field, None)
                if field in old["metadata"]:
                    new["metadata"][field] = old["metadata"][field]
        # defaults are not of the spec alone: labels of a job are those of its template if it is given none
        self.fill_in(new, context)
