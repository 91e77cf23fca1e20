"""The base class of most kinds' strategies: the same defaulting and validation for create and update.

From the marks of a kind's shape, or its own `fill_in`, `problems` and `change_problems`, to the steps of `Strategy`.
"""

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.marks import Marks
from kubesched_controlplane.registry.strategy import Strategy, StrategyContext
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.shapes import Shape

# metadata that an update of the status keeps, for kinds with `status_keeps_metadata`
_OWNED_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


class KindStrategy(Strategy):
    """The strategy of a kind whose objects are defaulted and validated the same way on create and update."""

    has_generation = False
    # an update of the status keeps labels, annotations, finalizers and owner references
    status_keeps_metadata = False

    # the problems of a change come before those of the changed object
    change_first = False
    # the marks of the kind's shape, with rules across fields
    marks = Marks()

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set the defaults of marks, and add a missing spec."""
        if "spec" in shape_of(context).fields:
            part(document, "spec")
        self.marks.fill_in(shape_of(context), document)

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of an object."""
        return self.marks.problems("", shape_of(context), document)

    def change_problems(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of an object."""
        return self.marks.change_problems("", shape_of(context), new, old)

    def validate_status(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change of status."""
        return self.marks.status_problems(shape_of(context), new)

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
        """Return the problems of a changed object, and of the change."""
        problems, changes = self.problems(new, context), self.change_problems(new, old, context)
        return changes + problems if self.change_first else problems + changes

    def prepare_status(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Keep everything but the status and metadata, and set defaults."""
        super().prepare_status(new, old, context)
        if self.status_keeps_metadata:
            for field in _OWNED_METADATA:
                new["metadata"].pop(field, None)
                if field in old["metadata"]:
                    new["metadata"][field] = old["metadata"][field]
        # some defaults are outside the spec: the labels of a job default to those of its template
        self.fill_in(new, context)


def shape_of(context: StrategyContext) -> Shape:
    """Return the shape of the stored version of a kind."""
    stored = context.catalog.by_prefix[context.resource.prefix]
    found = library().kind(stored.api_version, stored.kind)
    assert found is not None
    return found
