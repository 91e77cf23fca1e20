"""Fault injection between a server and its clients, by rates and a seed.

From a text such as `conflict=0.05,slow=0.1:200ms` to dice. Dice are thrown for each request, and for each event of a
watch; each watch has separate dice, so its faults do not depend on other clients. `transport` injects the faults, in
process and over HTTP alike.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

import msgspec

from kubesched.config.golang import parse_duration
from kubesched.errors import KubeschedError
from kubesched_controlplane.api.requests import Target
from kubesched_controlplane.api.resources import ALL_VERBS
from kubesched_controlplane.api.statuses import (
    MODIFIED_MEANWHILE,
    ApiError,
    conflict,
    internal_error,
    too_many_requests,
)
from kubesched_controlplane.server.catalog import RESOURCES

WRITES = ("create", "update", "patch", "delete", "deletecollection")
RATE, RATE_AND_TIME, TIME, TIME_AND_TIME = "RATE", "RATE:DURATION", "DURATION", "DURATION:DURATION"


class FaultError(KubeschedError):
    """A malformed text of faults; the message names the part."""


class Kind(NamedTuple):
    """A kind of fault: the form of its value after `=`, and its effect."""

    form: str
    does: str


KINDS = {
    "conflict": Kind(RATE, "a write is refused: 409 Conflict"),
    "too-many-requests": Kind(RATE_AND_TIME, "429 with Retry-After"),
    "internal-error": Kind(RATE, "500 InternalError"),
    "unavailable": Kind(RATE, "503 ServiceUnavailable"),
    "timeout": Kind(RATE, "504 Timeout"),
    "lost-request": Kind(RATE, "the connection is cut before anything is done"),
    "lost-response": Kind(RATE, "it is done, then the connection is cut"),
    "slow": Kind(RATE_AND_TIME, "it is done, and answered so much later"),
    "watch-drop": Kind(RATE, "an event is never sent"),
    "watch-duplicate": Kind(RATE, "an event is sent twice"),
    "watch-delay": Kind(RATE_AND_TIME, "an event, and those after it, come so much later"),
    "watch-expire": Kind(TIME, "a watch ends with 410 after about so long, and the past is forgotten"),
    "outage": Kind(TIME_AND_TIME, "about so often the server is gone for so long"),
}
_DEFAULT_SECONDS = {"too-many-requests": 1.0}
_MADE_UP = "made up by --fault"


class Fault(msgspec.Struct, frozen=True):
    """A fault: its rate and duration, and the verb and resource that it is limited to; `every` is its period."""

    name: str
    rate: float = 1.0
    seconds: float = 0.0
    every: float = 0.0
    verb: str = "*"
    resource: str = "*"

    def concerns(self, target: Target | None) -> bool:
        """Return whether the fault applies to requests with this target."""
        if target is None:
            return self.name != "conflict" and (self.verb, self.resource) == ("*", "*")
        if self.name == "conflict" and target.verb not in WRITES:
            return False
        if self.verb not in ("*", target.verb):
            return False
        name, _, subresource = self.resource.partition("/")
        if name not in ("*", target.resource.plural):
            return False
        return self.resource == "*" or subresource in ("*", target.subresource)


class FaultPlan(NamedTuple):
    """The faults of one request."""

    refusal: ApiError | None = None
    lost_request: bool = False
    lost_response: bool = False
    seconds: float = 0.0


class Dice:
    """Decides by a seed which faults happen; `thrown` counts them by name."""

    def __init__(self, faults: Iterable[Fault] = (), seed: int | str | None = 0) -> None:
        every = tuple(faults)
        self._requests = tuple(each for each in every if _of_request(each))
        self._watches = tuple(each for each in every if each.name.startswith("watch-"))
        self.outage = next((each for each in every if each.name == "outage"), None)
        self._seed = seed
        self._random = Random(seed)
        self._begun = 0
        self.thrown: Counter[str] = Counter()

    def plan(self, target: Target | None) -> FaultPlan:
        """Return the faults of the next request."""
        refusal, lost_request, lost_response, seconds = None, False, False, 0.0
        for fault in self._requests:
            if not fault.concerns(target) or self._random.random() >= fault.rate:
                continue
            if fault.name == "slow":
                seconds += self.about(fault.seconds)
            elif fault.name == "lost-request":
                lost_request = True
            elif fault.name == "lost-response":
                lost_response = True
            else:
                refusal = refusal or _refusal(fault, target)
            self.thrown[fault.name] += 1
        return FaultPlan(refusal, lost_request, lost_response, seconds)

    def of_watch(self, target: Target) -> "WatchDice | None":
        """Return the dice of a new watch, None if no fault applies to it."""
        faults = tuple(each for each in self._watches if each.concerns(target))
        if not faults:
            return None
        self._begun += 1
        return WatchDice(faults, Random(f"{self._seed}/{self._begun}"), self.thrown)

    def about(self, seconds: float) -> float:
        """Return a random time between half and one and a half of the mean."""
        return seconds * self._random.uniform(0.5, 1.5)


class Fate(NamedTuple):
    """The faults of one event: how often it is sent, and how many seconds later."""

    copies: int = 1
    seconds: float = 0.0


class WatchDice:
    """Decides on the faults of one watch."""

    def __init__(self, faults: tuple[Fault, ...], random: Random, thrown: Counter[str]) -> None:
        self._faults = faults
        self._random = random
        self._thrown = thrown

    def lifetime(self) -> float:
        """Return the seconds after which the watch expires, 0 for never."""
        return min((self._about(each.seconds) for each in self._faults if each.name == "watch-expire"), default=0.0)

    def fate(self) -> Fate:
        """Return the faults of the next event."""
        copies, seconds = 1, 0.0
        for fault in self._faults:
            if fault.name == "watch-expire" or self._random.random() >= fault.rate:
                continue
            self._thrown[fault.name] += 1
            if fault.name == "watch-drop":
                copies = 0
            elif fault.name == "watch-duplicate":
                copies *= 2
            else:
                seconds += self._about(fault.seconds)
        return Fate(copies, seconds)

    def _about(self, seconds: float) -> float:
        return seconds * self._random.uniform(0.5, 1.5)


def _of_request(fault: Fault) -> bool:
    return fault.name != "outage" and not fault.name.startswith("watch-")


def _refusal(fault: Fault, target: Target | None) -> ApiError:
    if fault.name == "conflict":
        assert target is not None
        return conflict(target.resource, target.name, MODIFIED_MEANWHILE)
    if fault.name == "too-many-requests":
        return too_many_requests("Too many requests, please try again later.", max(1, round(fault.seconds)))
    if fault.name == "internal-error":
        return internal_error(_MADE_UP)
    if fault.name == "timeout":
        return ApiError(504, "Timeout", f"Timeout: request did not complete within the allotted timeout ({_MADE_UP})")
    return ApiError(
        503, "ServiceUnavailable", f"the server is currently unable to handle the request ({_MADE_UP})", retry_after=1
    )


# -- text


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Return the faults in a text: `NAME=VALUE[ on [VERB] RESOURCE]`, separated by commas."""
    return tuple(_fault(part.strip()) for part in text.split(",") if part.strip())


def _fault(part: str) -> Fault:
    body, _, scope = part.partition(" on ")
    name, equals, value = (word.strip() for word in body.partition("="))
    kind = KINDS.get(name)
    if kind is None:
        raise FaultError(f"{part!r}: there is no fault {name!r}; there are {', '.join(KINDS)}")
    if not equals or not value:
        raise FaultError(f"{part!r}: expected {name}={kind.form}")
    verb, resource = _scope(part, name, scope.split()) if scope.strip() else ("*", "*")
    return _FORMS[kind.form](part, Fault(name, verb=verb, resource=resource), value)


def _scope(part: str, name: str, words: list[str]) -> tuple[str, str]:
    """Return the verb and the resource that a fault is limited to."""
    if name == "outage":
        raise FaultError(f"{part!r}: an outage is everybody's, it cannot be limited")
    if len(words) > 2:
        raise FaultError(f"{part!r}: expected 'on VERB RESOURCE', 'on VERB' or 'on RESOURCE'")
    if len(words) == 1:
        words = [words[0], "*"] if words[0] in ALL_VERBS else ["*", words[0]]
    verb, resource = words
    if verb != "*" and verb not in ALL_VERBS:
        raise FaultError(f"{part!r}: {verb!r} is no verb; there are {', '.join(ALL_VERBS)}, and * for all")
    plural, _, subresource = resource.partition("/")
    known = [each for each in RESOURCES if plural in ("*", each.plural)]
    if not known:
        raise FaultError(f"{part!r}: there is no resource {plural!r}")
    if subresource not in ("", "*") and not any(subresource in each.subresources for each in known):
        raise FaultError(f"{part!r}: {plural} have no {subresource!r}")
    if name.startswith("watch-") and verb not in ("*", "watch"):
        raise FaultError(f"{part!r}: {name} is about watches, not {verb}")
    return verb, resource


def _rate(part: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate <= 1.0:
        raise FaultError(f"{part!r}: {text!r} is no rate between 0 and 1")
    return rate


def _seconds(part: str, text: str) -> float:
    try:
        seconds = parse_duration(text).seconds
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        raise FaultError(f"{part!r}: {text!r} is not a duration such as 200ms, 5s or 1m30s")
    return seconds


def _with_rate(part: str, fault: Fault, value: str) -> Fault:
    return msgspec.structs.replace(fault, rate=_rate(part, value))


def _with_rate_and_time(part: str, fault: Fault, value: str) -> Fault:
    rate, colon, time = value.partition(":")
    seconds = _seconds(part, time) if colon else _DEFAULT_SECONDS.get(fault.name)
    if seconds is None:
        raise FaultError(f"{part!r}: expected {fault.name}={RATE_AND_TIME}, such as {fault.name}=0.1:200ms")
    return msgspec.structs.replace(fault, rate=_rate(part, rate), seconds=seconds)


def _with_time(part: str, fault: Fault, value: str) -> Fault:
    return msgspec.structs.replace(fault, seconds=_seconds(part, value))


def _with_two_times(part: str, fault: Fault, value: str) -> Fault:
    every, colon, time = value.partition(":")
    if not colon:
        raise FaultError(f"{part!r}: expected {fault.name}={TIME_AND_TIME}, such as {fault.name}=30s:5s")
    return msgspec.structs.replace(fault, every=_seconds(part, every), seconds=_seconds(part, time))


_FORMS: dict[str, Callable[[str, Fault, str], Fault]] = {
    RATE: _with_rate,
    RATE_AND_TIME: _with_rate_and_time,
    TIME: _with_time,
    TIME_AND_TIME: _with_two_times,
}
