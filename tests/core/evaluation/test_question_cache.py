"""What is remembered of questions and classes: bounded, the least recently used first out."""

from kubesched.core.evaluation.question_cache import Recent


def test_the_least_recently_used_entry_is_forgotten() -> None:
    recent: Recent[str] = Recent(limit=2, heaviest=100)
    recent.put("a", "A", 1)
    recent.put("b", "B", 1)
    assert recent.get("a") == "A"
    recent.put("c", "C", 1)
    assert [recent.get(key) for key in "abc"] == ["A", None, "C"]
    assert (len(recent), recent.weight) == (2, 2)


def test_entries_are_forgotten_when_they_are_too_heavy_together_but_the_newest_stays() -> None:
    recent: Recent[str] = Recent(limit=10, heaviest=5)
    recent.put("a", "A", 3)
    recent.put("b", "B", 9)
    assert (recent.get("a"), recent.get("b")) == (None, "B")
    assert recent.weight == 9


def test_an_entry_that_is_put_again_replaces_the_value_and_keeps_its_weight() -> None:
    recent: Recent[str] = Recent(limit=2, heaviest=5)
    recent.put("a", "A", 3)
    recent.put("a", "B", 4)
    assert recent.get("a") == "B"
    assert (len(recent), recent.weight) == (1, 3)
    recent.clear()
    assert (len(recent), recent.weight) == (0, 0)
