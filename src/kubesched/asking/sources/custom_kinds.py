"""Which custom resources a cluster is read with: those that plugins look up.

From a configuration and its plugins to names of kinds.
"""

from kubesched.api.custom import CustomObject
from kubesched.client.informers.watched_kinds import watched_kinds
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of
from kubesched.core.framework.registry import Registry


def custom_kinds_of(loaded: Loaded, registry: Registry) -> list[str]:
    """Return the kinds of custom resources that the plugins of a configuration look up."""
    profiles = engine_of(loaded, registry).profiles
    return [each.name for each in watched_kinds(profiles, loaded.gates) if issubclass(each.kind, CustomObject)]
