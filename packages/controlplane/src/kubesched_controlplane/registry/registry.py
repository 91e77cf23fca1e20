"""The registry: store, catalog, schemas and strategies, as the verbs use them.

Clock and randomness are parameters, so that a server in virtual time with a seed is deterministic.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from random import Random
from typing import Any, Protocol
from uuid import UUID

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import Request, Target, User
from kubesched_controlplane.api.resources import Catalog, Resource
from kubesched_controlplane.managed_fields.tracking import type_of_objects
from kubesched_controlplane.managed_fields.types import FieldType
from kubesched_controlplane.managed_fields.validation import Problem, problems_of
from kubesched_controlplane.registry.strategy import Strategies, Strategy, StrategyContext
from kubesched_controlplane.registry.token_issuer import Issuer
from kubesched_controlplane.schema import Schemas
from kubesched_controlplane.storage.store import Store

# without vowels, which make words, and without letters and digits that look alike
_NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SHARED_STRATEGY = Strategy()

# called after the object is stored; charges the quotas
Settle = Callable[[], None]
# the new object, the old one (None on create) and the context; raises ApiError if a limit or quota is exceeded
Admit = Callable[[Document, Document | None, StrategyContext], Settle | None]


# the new object and the old one
Objects = tuple[Document | None, Document | None]


class Admission(Protocol):
    """The configured policies and webhooks.

    `idle` while there are none, `changes` while one of them may mutate objects.
    """

    idle: bool
    changes: bool

    def change(
        self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool
    ) -> Document | None:
        """Return the object as admission changes it, None if unchanged; raises ApiError, WebhookCallsNeededError."""

    def check(self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool) -> None:
        """Raise ApiError if an operation is not admitted, WebhookCallsNeededError if webhooks must be called first."""


class _NoAdmission:
    """No policy and no webhook is configured."""

    idle = True
    changes = False

    def change(
        self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool
    ) -> Document | None:
        """Change nothing."""
        return None

    def check(self, operation: str, place: Target, request: Request, objects: Objects, *, dry_run: bool) -> None:
        """Admit everything."""


def _admit_all(new: Document, old: Document | None, context: StrategyContext) -> Settle | None:
    return None


class DefinedKind(msgspec.Struct, frozen=True):
    """One version of a kind that a CustomResourceDefinition defines."""

    strategy: Strategy
    field_type: FieldType
    # the problems of an applied configuration
    config_problems: Callable[[Any], list[Problem]]
    # the paths of the subresource `scale`
    scale: Document


class ResourceRegistry(msgspec.Struct):
    """Store, catalog, schemas, strategies, clock and randomness; and admission."""

    store: Store
    catalog: Catalog
    schemas: Schemas
    strategies: Strategies
    clock: Callable[[], datetime]
    random: Random
    admit: Admit = _admit_all
    admission: Admission = _NoAdmission()
    # signs tokens of service accounts
    issuer: Issuer = msgspec.field(default_factory=Issuer)
    # why a user may not do this, an empty text if allowed: user, resource, verb, subresource, namespace, name
    refusal: Callable[[User, Resource, str, str, str, str], str] = lambda user, *what: ""
    # custom kinds, by version and kind
    defined: Mapping[tuple[str, str], DefinedKind] = {}

    def field_type(self, resource: Resource) -> FieldType:
        """Return the type of a resource's objects for managed fields."""
        defined = self._defined(resource)
        return type_of_objects(self.schemas, resource) if defined is None else defined.field_type

    def config_problems(self, resource: Resource, config: Document) -> list[Problem]:
        """Return the problems of a configuration that is applied to objects of a resource."""
        defined = self._defined(resource)
        if defined is not None:
            return defined.config_problems(config)
        shape = self.schemas.for_kind(resource.api_version, resource.kind)
        return [] if shape is None else problems_of(shape, config)

    def strategy(self, resource: Resource, subresource: str = "") -> Strategy:
        """Return the strategy of a kind, or of one of its subresources that has its own."""
        defined = self._defined(resource)
        if defined is not None:
            return defined.strategy
        if subresource and (found := self.strategies.get(f"{resource.prefix}/{subresource}")):
            return found
        return self.strategies.get(resource.prefix, _SHARED_STRATEGY)

    def _defined(self, resource: Resource) -> DefinedKind | None:
        return self.defined.get((resource.api_version, resource.kind)) if self.defined else None

    def context(self, resource: Resource, user: User, verb: str = "", *, imported: bool = False) -> StrategyContext:
        """Return the context of a strategy."""
        refusal = partial(self.refusal, user, resource)
        return StrategyContext(resource, self.store, self.catalog, user, self.clock(), imported, verb, refusal)

    def new_uid(self) -> str:
        """Return a new UID."""
        return str(UUID(int=self.random.getrandbits(128), version=4))

    def name_suffix(self) -> str:
        """Return a random suffix for generateName."""
        return "".join(self.random.choice(_NAME_LETTERS) for _ in range(5))
