"""The configuration in force, faults of an edited one, and the placements that would differ under it.

From texts to values. Each comparison builds models of the objects on display and discards them.
"""

from typing import Any, NamedTuple

import msgspec

from kubesched.config.document import DocumentError, parse
from kubesched.config.encoding import to_wire
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, Catalog, merge_catalogs
from kubesched.config.load import Loaded
from kubesched.config.redacting import without_secrets
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched_answers.whatif.compare import NamedModel, compare
from kubesched_answers.whatif.whatif_answer import ComparisonAnswer
from kubesched_lab.page.configuration.form import form_of, text_of
from kubesched_lab.page.configuration.form_changes import FormChange, FormChangeError, changed_tree
from kubesched_lab.page.configuration.places import faults_of
from kubesched_lab.page.configuration.text_edits import rewritten

# names of the two configurations in answers
IN_FORCE, EDITED = "the configuration in force", "the edited one"
# values in a text that a user types
MOST_VALUES = 50_000
COMMENTS_LOST = "This change could not be made in place: the whole text was rewritten, without its comments."


class ConfigurationText(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A text to check: as typed, or with a change of the form; `reschedule_all` places all pods again."""

    yaml: str
    change: FormChange | None = None
    reschedule_all: bool = False


class ConfigurationReader(NamedTuple):
    """The settings that texts are read with: feature gates, and plugins beside the in-tree ones."""

    gates: FeatureGates
    registry: Registry | None

    @property
    def catalog(self) -> Catalog:
        """Return all plugins with their extension points."""
        return IN_TREE if self.registry is None else merge_catalogs(IN_TREE, self.registry.catalog())

    def load(self, text: str | None) -> Loaded:
        """Return the configuration in a text, the default one for None; raises ConfigError."""
        return load_config(text, self.gates, self.registry)


def shown_text(text: str, loaded: Loaded) -> str:
    """Return the text of the configuration in force without secrets; if it has no text, its differences from the
    defaults.
    """
    if not text:
        return text_of(loaded)
    tree = parse(text)
    return rewritten(text, without_secrets(tree, hidden="")).text if isinstance(tree, dict) else text


def says_the_same(reader: ConfigurationReader, told: str, loaded: Loaded) -> bool:
    """Return whether the text that a scheduler reports, without secrets, equals a configuration that was loaded."""
    try:
        found = reader.load(told)
        shown, known = (without_secrets(to_wire(each.config), hidden="") for each in (found, loaded))
    except (ConfigError, RecursionError):
        return False
    return shown == known


def checked(reader: ConfigurationReader, asked: ConfigurationText) -> dict[str, Any]:
    """Return a text after a change, its faults, and its form if it has none; raises FormChangeError."""
    text, notice = asked.yaml, ""
    try:
        tree = parse(text, MOST_VALUES)
        if asked.change is not None:
            new = rewritten(text, changed_tree(tree, asked.change, reader.gates, reader.catalog))
            notice = COMMENTS_LOST if new.anew and "#" in text else ""
            text = new.text
        form = form_of(reader.load(text), reader.catalog)
    except DocumentError as error:
        faults = faults_of(text, ConfigError(Stage.DECODE, [str(error)]))
    except ConfigError as error:
        faults = faults_of(text, error)
    except RecursionError:
        raise FormChangeError("change: the value is nested too deeply") from None
    else:
        return {"yaml": text, "faults": [], "form": form, "notice": notice}
    return {"yaml": text, "faults": [fault._asdict() for fault in faults], "form": None, "notice": notice}


def compared(
    objects: ClusterObjects, in_force: Loaded, edited: Loaded, registry: Registry | None, *, reschedule_all: bool
) -> ComparisonAnswer:
    """Return the placements that differ under an edited configuration."""
    first, second = (ClusterModel(objects, loaded, registry) for loaded in (in_force, edited))
    return compare(
        NamedModel(IN_FORCE, first, disposable=True),
        NamedModel(EDITED, second, disposable=True),
        reschedule_all=reschedule_all,
    )
