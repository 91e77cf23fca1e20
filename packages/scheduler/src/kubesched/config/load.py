"""Loading: from the text of a configuration to the completed configuration and its profiles.

Four stages in order, each of which ends the load with a `ConfigError` that lists its problems: decode (text to
structs), default, validate, build (plugins of each extension point).
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from kubesched.config.build import ResolvedProfile, build
from kubesched.config.decoding import Decoder
from kubesched.config.defaults import complete, fill_absent
from kubesched.config.document import DocumentError, parse
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, Catalog
from kubesched.config.types import API_VERSION, KIND, KubeSchedulerConfiguration
from kubesched.config.validation import violations


class Loaded(msgspec.Struct, frozen=True):
    """A completed configuration, its profiles with their extension points, and its feature gates."""

    config: KubeSchedulerConfiguration
    profiles: tuple[ResolvedProfile, ...]
    gates: FeatureGates

    def profile(self, scheduler_name: str) -> ResolvedProfile | None:
        """Return the profile of that name, or None."""
        return next((profile for profile in self.profiles if profile.scheduler_name == scheduler_name), None)


def load(
    text: str | bytes | None = None,
    gates: FeatureGates | None = None,
    catalog: Catalog = IN_TREE,
    *,
    validate: bool = True,
    adjust: Callable[[KubeSchedulerConfiguration], KubeSchedulerConfiguration] = lambda config: config,
) -> Loaded:
    """Return the configuration in `text` (None: all defaults), completed; ConfigError if it cannot be used.

    `adjust` changes the configuration before it is validated, as flags do.

    Without `validate` the text goes straight from defaulting to the build, as when profiles are made from structs in
    code; the build still checks its assumptions.
    """
    gates = gates or FeatureGates()
    config = adjust(complete(decode(text), gates))
    errors = sorted(violations(config, gates)) if validate else []
    if errors:
        raise ConfigError(Stage.VALIDATE, errors)
    config, profiles = build(config, catalog, gates)
    return Loaded(config, profiles, gates)


def decode(text: str | bytes | None) -> KubeSchedulerConfiguration:
    """Return the configuration as written, before defaulting."""
    try:
        tree = {"apiVersion": API_VERSION, "kind": KIND} if text is None else parse(text)
    except DocumentError as error:
        raise ConfigError(Stage.DECODE, [str(error)]) from None
    decoder = Decoder()
    config = decoder.configuration(fill_absent(tree))
    if decoder.errors:
        raise ConfigError(Stage.DECODE, decoder.errors)
    return config
