"""What is remembered of questions, classes and digests: bounded, the least recently used first out."""

from kubesched.common.recent import Recent


def test_the_least_recently_used_entry_is_forgotten() -> None:
    recent: Recent[str, str] = Recent(limit=2, heaviest=100)
    recent.put("a", "A", 1)
    recent.put("b", "B", 1)
    assert recent.get("a") == "A"
    recent.put("c", "C", 1)
    assert [recent.get(key) for key in "abc"] == ["A", None, "C"]
    assert (len(recent), recent.weight) == (2, 2)


def test_entries_are_forgotten_when_they_are_too_heavy_together() -> None:
    recent: Recent[str, str] = Recent(limit=10, heaviest=5)
    recent.put("a", "A", 3)
    recent.put("b", "B", 4)
    assert (recent.get("a"), recent.get("b")) == (None, "B")
    assert recent.weight == 4


def test_an_entry_that_is_too_heavy_by_itself_is_not_kept_and_displaces_nothing() -> None:
    recent: Recent[str, str] = Recent(limit=10, heaviest=5)
    recent.put("a", "A", 3)
    recent.put("b", "B", 6)
    assert (recent.get("a"), recent.get("b")) == ("A", None)


def test_an_entry_that_is_put_again_replaces_the_value_and_keeps_its_weight() -> None:
    recent: Recent[str, str] = Recent(limit=2, heaviest=5)
    recent.put("a", "A", 3)
    recent.put("a", "B", 4)
    assert recent.get("a") == "B"
    assert (len(recent), recent.weight) == (1, 3)
    recent.clear()
    assert (len(recent), recent.weight) == (0, 0)


def test_entries_that_were_not_used_between_two_calls_are_forgotten() -> None:
    recent: Recent[str, str] = Recent(limit=10, heaviest=100)
    for key in "abc":
        recent.put(key, key.upper(), 1)
    assert recent.forget_unused() == 0
    recent.get("a")
    recent.put("d", "D", 1)
    assert list(recent.values()) == ["B", "C", "A", "D"]
    assert recent.forget_unused() == 2
    assert (list(recent.values()), len(recent), recent.weight) == (["A", "D"], 2, 2)
    assert recent.forget_unused() == 2
    assert (len(recent), recent.weight) == (0, 0)


def test_the_bounds_hold_while_entries_wait_to_be_forgotten() -> None:
    recent: Recent[int, int] = Recent(limit=3, heaviest=100)
    recent.put(0, 0, 1)
    recent.forget_unused()
    for key in range(1, 10):
        recent.put(key, key, 1)
    assert (list(recent.values()), recent.weight) == ([7, 8, 9], 3)
    assert recent.forget_unused() == 0
    assert len(recent) == 3
