"""The attack suite: each attack has a sentence, and an outcome is that of its target, whatever an attack does."""

import time
from collections.abc import Callable
from typing import Any, Self

import pytest
from click.testing import CliRunner

from attack import __main__ as suite
from attack.attacks import MODULES, Attack, FellError, all_attacks, expect
from attack.targets import Commands

LONG = 0.2


class Fake:
    """A target that is well, or not."""

    started = 0

    def __init__(self, *, well: bool = True, growth: float = 0.0) -> None:
        self._well, self._growth, self._memory = well, growth, 0.0

    def __enter__(self) -> Self:
        type(self).started += 1
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def check(self) -> None:
        self._memory += self._growth
        expect(self._well, "it is not well")

    def rss(self) -> float:
        return self._memory


def an_attack(run: Callable[[Any], str], target: Any = Fake, name: str = "fake.attack") -> Attack:
    return Attack(name, "Somebody does something.", target, run)


def fell(target: Any) -> str:
    raise FellError("it fell")


def faulty(target: Any) -> str:
    raise ConnectionResetError("cut")


def endless(target: Any) -> str:
    # whatever an attack catches, its time ends
    while True:
        try:
            time.sleep(10)
        except Exception:  # pragma: no cover
            continue


OUTCOMES: dict[str, tuple[Callable[[Any], str], Fake, bool, str]] = {
    "one that held": (lambda target: "refused", Fake(), True, "refused"),
    "one that fell": (fell, Fake(), False, "it fell"),
    "a target that is not well afterwards": (lambda target: "refused", Fake(well=False), False, "it is not well"),
    "a target that grew": (lambda target: "refused", Fake(growth=301.0), False, "+301 MiB of memory"),
    "an attack with a fault": (faulty, Fake(), False, "ConnectionResetError: cut"),
    "an attack without an end": (endless, Fake(), False, f"not over within {LONG:g} s"),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_an_outcome_is_that_of_the_target(case: str) -> None:
    run, target, held, seen = OUTCOMES[case]
    outcome = suite.carried_out(an_attack(run), target, LONG)
    assert (outcome.held, outcome.seen) == (held, seen)


def test_a_target_that_fell_is_replaced_and_another_one_is_kept() -> None:
    Fake.started = 0
    attacks = [an_attack(run) for run in (lambda target: "", fell, lambda target: "", lambda target: "")]
    told: list[suite.Outcome] = []
    assert suite.all_outcomes(attacks, 10, told.append) == told
    assert [outcome.held for outcome in told] == [True, False, True, True]
    assert Fake.started == 2


@pytest.mark.parametrize(("run", "code"), [(lambda target: "ok", 0), (fell, 1)])
def test_the_exit_code_says_whether_one_fell(
    run: Callable[[Any], str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "all_attacks", lambda: [an_attack(run)])
    done = CliRunner().invoke(suite.main, [])
    assert done.exit_code == code, done.output
    assert ("FELL  fake.attack" in done.output) == bool(code)
    assert f"1 attacks in 0 s: {1 - code} held, {code} fell" in done.output


def test_each_attack_has_a_name_of_its_own_and_a_sentence() -> None:
    attacks = all_attacks()
    assert len({each.name for each in attacks}) == len(attacks)
    assert {each.name.partition(".")[0] for each in attacks} == set(MODULES)
    assert [each.name for each in attacks if not each.sentence.endswith(".")] == []
    assert [each.name for each in attacks if len(each.sentence) > 150] == []


def test_names_pick_attacks_and_an_unknown_one_is_told() -> None:
    listed = CliRunner().invoke(suite.main, ["--list", "page_files", "tenants.odd_texts"]).output.splitlines()
    assert {line.split(".")[0] for line in listed} == {"page_files", "tenants"}
    refused = CliRunner().invoke(suite.main, ["nothing"])
    assert (refused.exit_code, "no attack begins with nothing" in refused.output) == (2, True)


@pytest.mark.slow
def test_the_attacks_on_commands_hold() -> None:
    attacks = [each for each in all_attacks() if each.target is Commands]
    fallen = [outcome for outcome in suite.all_outcomes(attacks, 300, lambda outcome: None) if not outcome.held]
    assert fallen == []
