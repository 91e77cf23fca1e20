"""Many selectors at once say what each of them says, and only those are asked that may match."""

from random import Random

import pytest

from kubesched.api.label_syntax import parse_selector
from kubesched.api.labels import EVERYTHING, NOTHING, Selector
from kubesched.api.selector_sets import SelectorSet

WRITTEN = (
    "a=1",
    "a==2",
    "a in (1,2)",
    "a notin (1)",
    "a",
    "!a",
    "a>1",
    "a<2",
    "a=1,b",
    "a,b=2",
    "!a,b in (1,3)",
    "b notin (1,2)",
    "b!=1,a=3",
    "b>2,!c",
)
SELECTORS = (*map(parse_selector, WRITTEN), EVERYTHING, NOTHING)


def some_labels(random: Random) -> dict[str, str]:
    return {key: random.choice("123") for key in "abc" if random.random() < 0.6}


@pytest.mark.parametrize("seed", range(30))
def test_a_set_says_what_its_selectors_say(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        selectors = random.sample(SELECTORS, random.randrange(4))
        together = SelectorSet(selectors)
        one, other = some_labels(random), some_labels(random)
        assert together.any_matches(one) == any(selector.matches(one) for selector in selectors)
        assert together.differ(one, other) == any(s.matches(one) != s.matches(other) for s in selectors)


def test_only_selectors_that_may_match_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    together = SelectorSet(parse_selector(f"app=a{number % 500},tier") for number in range(1000))
    assert len(together.selectors) == 500
    asked = []
    matches = Selector.matches

    def counting(self: Selector, labels: dict[str, str]) -> bool:
        asked.append(self)
        return matches(self, labels)

    monkeypatch.setattr(Selector, "matches", counting)
    assert not together.any_matches({"app": "a7"})
    assert not together.any_matches({"app": "other", "tier": "web"})
    assert together.differ({"app": "a7", "tier": "web"}, {})
    assert len(asked) <= 3
