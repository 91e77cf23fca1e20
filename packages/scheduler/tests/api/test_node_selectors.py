"""Node selectors: terms, fields, malformed terms, preferred terms."""

from typing import Any

import msgspec
import pytest

from kubesched.api.labels import InvalidSelectorError
from kubesched.api.node_selectors import (
    compile_node_selector,
    compile_term,
    parse_node_selector,
    parse_preferred_terms,
    required_node_affinity,
)
from kubesched.api.pods import NodeSelector, NodeSelectorTerm, PodSpec, PreferredSchedulingTerm


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def term(*expressions: dict[str, Any], fields: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"matchExpressions": list(expressions), "matchFields": list(fields)}


def node_selector(*terms: dict[str, Any]) -> NodeSelector:
    return msgspec.convert({"nodeSelectorTerms": list(terms)}, NodeSelector)


ZONE_A = expression("zone", "In", "a")
BAD = expression("zone", "Equals", "a")
NAMED_N1 = expression("metadata.name", "In", "n1")


@pytest.mark.parametrize(
    ("terms", "labels", "name", "expected"),
    [
        pytest.param((), {}, "n1", False, id="no term matches no node"),
        pytest.param((term(),), {}, "n1", False, id="an empty term matches no node"),
        pytest.param((term(ZONE_A),), {"zone": "a"}, "n1", True, id="a label"),
        pytest.param((term(ZONE_A), term(NAMED_N1)), {"zone": "b"}, "n1", False, id="fields are no labels"),
        pytest.param((term(fields=(NAMED_N1,)),), {}, "n1", True, id="the name"),
        pytest.param((term(fields=(NAMED_N1,)),), {}, "n2", False, id="another name"),
        pytest.param((term(fields=(NAMED_N1,)),), {}, "", True, id="a node without a name has no fields to fail"),
        pytest.param((term(ZONE_A, fields=(NAMED_N1,)),), {"zone": "b"}, "n1", False, id="labels and fields both"),
        pytest.param((term(BAD), term(ZONE_A)), {"zone": "a"}, "n1", True, id="a malformed term hides no other"),
        pytest.param((term(ZONE_A, BAD),), {"zone": "a"}, "n1", False, id="a malformed term never matches"),
        pytest.param(
            (term(expression("cpus", "Gt", "8"), expression("cpus", "Lt", "20")),), {"cpus": "16"}, "n1", True, id="Gt"
        ),
        pytest.param((term(expression("cpus", "Gt", "8")),), {"cpus": "many"}, "n1", False, id="words are not greater"),
        pytest.param(
            (term(fields=(expression("metadata.uid", "NotIn", "x"),)),), {}, "n1", True, id="other fields are empty"
        ),
    ],
)
def test_matching(terms: tuple[dict[str, Any], ...], labels: dict[str, str], name: str, expected: bool) -> None:
    assert compile_node_selector(node_selector(*terms)).matches(labels, name) is expected


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            term(BAD),
            'nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: "Equals": supported values: "In",'
            ' "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"',
        ),
        (
            term(fields=(expression("metadata.name", "Exists"),)),
            'nodeSelectorTerms[1].matchFields[0].operator: Unsupported value: "Exists": supported values: "In",'
            ' "NotIn"',
        ),
        (
            term(fields=(expression("metadata.name", "In", "a", "b"),)),
            'nodeSelectorTerms[1].matchFields[0].values: Invalid value: ["a","b"]: must have one element',
        ),
        (
            term(expression("a", "Gt", "1", "x")),
            "[nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: "
            "[\"1\",\"x\"]: for 'Gt', 'Lt' operators, exactly one value is required, nodeSelectorTerms[1]"
            ".matchExpressions[0].values[1]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an"
            " integer]",
        ),
    ],
)
def test_strict_parsing_reports_every_problem_with_its_path(bad: dict[str, Any], message: str) -> None:
    selector = node_selector(term(ZONE_A), bad)
    with pytest.raises(InvalidSelectorError) as caught:
        parse_node_selector(selector)
    assert str(caught.value) == message
    lenient = compile_node_selector(selector)
    assert lenient.match_error({"zone": "a"}, "n1") == ""
    assert lenient.match_error({"zone": "b"}, "n1") == message


def test_equal_selectors_are_one_dictionary_key() -> None:
    one, other = (compile_node_selector(node_selector(term(ZONE_A, fields=(NAMED_N1,)))) for _ in range(2))
    assert {one: 1}[other] == 1
    assert one.keys == {"zone"}
    assert one != compile_node_selector(node_selector(term(ZONE_A)))


def test_preferred_terms_add_their_weights() -> None:
    terms = msgspec.convert(
        [
            {"weight": 5, "preference": term(ZONE_A)},
            {"weight": -2, "preference": term(expression("disk", "Exists"))},
            {"weight": 0, "preference": term(BAD)},
            {"weight": 100, "preference": term()},
        ],
        tuple[PreferredSchedulingTerm, ...],
    )
    preferred = parse_preferred_terms(terms)
    assert preferred.score({"zone": "a"}, "n1") == 5
    assert preferred.score({"zone": "a", "disk": ""}, "n1") == 3
    assert preferred.keys == {"zone", "disk"}


def test_a_malformed_preferred_term_is_an_error() -> None:
    terms = (PreferredSchedulingTerm(weight=1, preference=msgspec.convert(term(BAD), NodeSelectorTerm)),)
    with pytest.raises(InvalidSelectorError, match=r"^\[0\]\.matchExpressions\[0\]\.operator: Unsupported value"):
        parse_preferred_terms(terms)


def test_what_a_pod_requires_of_its_node() -> None:
    spec = msgspec.convert(
        {
            "nodeSelector": {"disk": "ssd"},
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term(ZONE_A), term(BAD)]}
                }
            },
        },
        PodSpec,
    )
    required = required_node_affinity(spec)
    assert required.matches({"disk": "ssd", "zone": "a"}, "n1")
    assert not required.matches({"disk": "hdd", "zone": "a"}, "n1")
    assert not required.matches({"disk": "ssd", "zone": "b"}, "n1")
    assert required.match_error({"disk": "hdd"}, "n1") == ""
    assert required.match_error({"disk": "ssd"}, "n1").startswith("nodeSelectorTerms[1]")
    assert required.keys == {"disk", "zone"}
    free = required_node_affinity(PodSpec())
    assert free.matches({}, "n1")
    assert free.match_error({}, "n1") == ""
    assert free.keys == frozenset()


def test_an_empty_term_compiled_alone_restricts_nothing() -> None:
    assert compile_term(NodeSelectorTerm()).matches({}, "n1")
