"""The one error of the config room: the stage that failed and every problem found there."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from kubesched.errors import KubeschedError


class Stage(enum.StrEnum):
    """The stage at which a configuration failed; stages run in this order and the first that fails ends the load."""

    GATES = "gates"
    DECODE = "decode"
    VALIDATE = "validate"
    BUILD = "build"


class ConfigError(KubeschedError):
    """A configuration that cannot be used: its stage, and one text per problem."""

    def __init__(self, stage: Stage, errors: Iterable[str]) -> None:
        self.stage = stage
        self.errors = tuple(errors)
        super().__init__("\n".join(self.errors))

    def about(self, source: str) -> ConfigError:
        """Return the same problems, each prefixed with the source of the configuration."""
        return ConfigError(self.stage, [f"{source}: {problem}" for problem in self.errors])
