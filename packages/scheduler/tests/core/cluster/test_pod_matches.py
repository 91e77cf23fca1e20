"""Questions about pods: found by a label that they need, dropped with their last reader, followed by their changes."""

import gc

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.labels import Selector, from_label_selector
from kubesched.api.meta import LabelSelector, LabelSelectorRequirement
from kubesched.core.cluster.pod_matches import RECENT_CHANGES, MatchKey, PodMatch, PodMatches

KEYS, VALUES = st.sampled_from("abc"), st.sampled_from("xyz")
REQUIREMENTS = st.one_of(
    st.builds(
        lambda key, operator, values: LabelSelectorRequirement(key=key, operator=operator, values=tuple(values)),
        KEYS,
        st.sampled_from(["In", "NotIn"]),
        st.lists(VALUES, min_size=1, max_size=2),
    ),
    st.builds(
        lambda key, operator: LabelSelectorRequirement(key=key, operator=operator),
        KEYS,
        st.sampled_from(["Exists", "DoesNotExist"]),
    ),
)
SELECTORS = st.lists(REQUIREMENTS, max_size=3).map(
    lambda found: from_label_selector(LabelSelector(match_expressions=tuple(found)))
)
MATCH_KEYS = st.builds(
    MatchKey,
    st.sampled_from([None, frozenset(["default"]), frozenset(["other"])]),
    st.lists(SELECTORS, max_size=2).map(tuple),
    st.booleans(),
)


@given(st.lists(MATCH_KEYS, unique=True, max_size=8), st.dictionaries(KEYS, VALUES), st.sampled_from(["default", "x"]))
def test_the_index_finds_all_questions_that_select_a_pod(
    keys: list[MatchKey], labels: dict[str, str], namespace: str
) -> None:
    matches, known = PodMatches(), [PodMatch(key) for key in keys]
    for match in known:
        matches.add(match)
    found = [reference() for reference in matches.selecting(namespace, labels)]
    assert len(found) == len(set(map(id, found)))
    assert set(map(id, found)) == {id(match) for match in known if match.selects(namespace, labels)}


def test_a_question_without_readers_is_dropped() -> None:
    matches, labels = PodMatches(), {"a": "x"}
    key = MatchKey(None, (from_label_selector(LabelSelector(match_labels=labels)),), False)
    match = PodMatch(key)
    matches.add(match)
    assert matches.get(key) is match
    assert len(matches.selecting("default", labels)) == 1
    del match
    gc.collect()
    assert matches.get(key) is None
    assert matches.selecting("default", labels) == ()
    # nothing is left of it
    assert not matches._by_place


def test_a_reader_learns_which_rows_changed_unless_there_were_too_many_changes() -> None:
    match = PodMatch(MatchKey(None, (Selector(),), False))
    match.count(7, 1)
    seen = match.changes
    match.count(3, 1)
    match.count(4, 1)
    match.count(3, -1)
    assert match.rows == {7: 1, 4: 1}
    assert set(match.changed_since(seen) or ()) == {3, 4}
    assert not match.changed_since(match.changes)
    for _ in range(RECENT_CHANGES):
        match.count(9, 1)
    assert match.changed_since(seen) is None
