"""The embedded API server accepts and refuses what kube-apiserver does, with the same words.

The corpus (data/README.md) has several thousand requests with one thing wrong. What still differs is listed here with
its reason, and in docs/reference/differences.md; the list only gets shorter.
"""

import re
from functools import cache
from pathlib import Path

import msgspec
import pytest
from tests.support.refusals import Case, compared

DOCS = Path(__file__).parents[3] / "docs"


class Difference(msgspec.Struct, frozen=True):
    """Cases that differ: how many, which, and why."""

    count: int
    words: str
    reason: str


DIFFERENCES = [
    Difference(
        16,
        r"(create|update) (\w+WebhookConfiguration|CustomResourceDefinition) .*/service/(name|namespace) ",
        "the reference names the other one of the two fields of a webhook's service",
    ),
    Difference(
        4,
        r'create Service (/spec/ports/0/nodePort|.*"nodePort":1\b)|update Service /spec/ports \[',
        "in a dry run the reference does not check node ports, or fails because of them",
    ),
    Difference(
        8,
        r"(create|update) HorizontalPodAutoscaler /spec/behavior/scale(Up|Down)/policies",
        "an empty list of scaling policies counts as left out",
    ),
    Difference(
        10,
        r"update PersistentVolumeClaim /spec/dataSource",
        "a changed dataSource has one problem, not also that dataSourceRef differs",
    ),
    Difference(
        7,
        r"(create|update) Workload ",
        "workloads have problems in other words, or one of two",
    ),
    Difference(
        10,
        r"(create|update) (CertificateSigningRequest|ConfigMap|Secret)\S* ",
        "words of Go's decoders about base64, JSON and empty values",
    ),
    Difference(
        2,
        r"create (ReplicationController|DeviceClass) /metadata/name ",
        "a name that is too long: bytes instead of characters",
    ),
    Difference(
        2,
        r"create StatefulSet /spec/updateStrategy/rollingUpdate/maxUnavailable ",
        "a field behind a gate is validated, not dropped",
    ),
    Difference(
        1,
        r"create StatefulSet /spec/volumeClaimTemplates/0 ",
        "the order of problems of a stateful set's claims and template",
    ),
    Difference(
        2,
        r"create Job /metadata/name ",
        "labels that a job gets are validated in the job and in its template",
    ),
    Difference(
        2,
        r"create Pod /spec/serviceAccountName ",
        "the recorded server did not give pods an account",
    ),
    Difference(
        1,
        r'create Pod .*"privileged":true',
        "the recorded server did not allow privileged pods",
    ),
    Difference(
        1,
        r'create Pod .*"resourceVersion":"1"',
        "a resource version of a new pod is refused in a dry run, too",
    ),
    Difference(
        1,
        r"create Pod .*seccomp.security.alpha",
        "annotations for seccomp and AppArmor have no meaning",
    ),
    Difference(
        3,
        r"create ResourceClaim .*(dyn\(true\)|includes|l == k|k == l|matches|all\(d)",
        "expressions with the gate of list attributes are accepted, and costs are not estimated",
    ),
    Difference(
        3,
        r"update ControllerRevision ",
        "the reference compares the bytes of `data`, with spaces",
    ),
    Difference(
        2,
        r"update PersistentVolume /spec/nodeAffinity/",
        "a label key that is invalid and also new has both problems",
    ),
    Difference(
        2,
        r"update ResourceClaim /spec/devices/requests/0/exactly/allocationMode ",
        "a missing allocation mode counts as the default",
    ),
    Difference(
        4,
        r"update ResourceSlice ",
        "the order of problems of a resource slice",
    ),
    Difference(
        14,
        r"(create|update) CustomResourceDefinition /spec/versions",
        "definitions without a valid version, with a negative length or an unknown format",
    ),
]


@cache
def cases() -> list[Case]:
    return list(compared())


def different() -> list[Case]:
    return [case for case in cases() if case.reference != case.ours]


def test_the_corpus_is_whole() -> None:
    assert len(cases()) == 8893


@pytest.mark.parametrize("known", DIFFERENCES, ids=lambda each: each.reason)
def test_a_known_difference_only_shrinks(known: Difference) -> None:
    found = [case.words for case in different() if re.match(known.words, case.words)]
    assert len(found) == known.count, found


def test_the_documents_give_the_number() -> None:
    count = sum(each.count for each in DIFFERENCES)
    assert f"{count} differ." in (DOCS / "reference/differences.md").read_text()
    assert f"{len(cases()) - count} equal, {count} listed" in (DOCS / "verification/verification.md").read_text()


def test_every_other_answer_is_that_of_the_reference() -> None:
    unknown = [case for case in different() if not any(re.match(each.words, case.words) for each in DIFFERENCES)]
    assert unknown == []
