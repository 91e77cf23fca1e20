"""Messages of the condition PodScheduled in plain words."""

import pytest

from kubesched_lab.page.shown.reasons_in_words import in_plain_words

NO_HELP = "preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling."
CASES = {
    "the reason of most nodes comes first": (
        "0/6 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint(s), 3 Too many pods.",
        "Fits nowhere: 3 have no room for another pod, 2 have a taint that it does not tolerate, 1 is cordoned",
    ),
    "what preemption says is left out": (
        f"0/12 nodes are available: 12 Insufficient cpu. {NO_HELP}",
        "Fits nowhere: 12 lack cpu",
    ),
    "and what is said of claims before it": (
        f"0/12 nodes are available: 12 Insufficient cpu. no new claims to deallocate, {NO_HELP}",
        "Fits nowhere: 12 lack cpu",
    ),
    "a reason of a plugin of one's own is quoted": (
        "0/2 nodes are available: 2 no seat, not even 1 is free.",
        'Fits nowhere: 2 with "no seat, not even 1 is free"',
    ),
    "an older form of a taint is quoted": (
        "0/2 nodes are available: 1 node(s) had untolerated taint {a: b}, 1 Insufficient memory.",
        'Fits nowhere: 1 with "node(s) had untolerated taint {a: b}", 1 lacks memory',
    ),
    "a message of PreFilter stays": (
        '0/2 nodes are available: persistentvolumeclaim "data" not found. not found',
        'Fits nowhere: persistentvolumeclaim "data" not found',
    ),
    "so does any other message": ("plugin X: no answer", "plugin X: no answer"),
    "an empty message stays": ("", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_messages_become_plain_words(case: str) -> None:
    message, words = CASES[case]
    assert in_plain_words(message) == words
