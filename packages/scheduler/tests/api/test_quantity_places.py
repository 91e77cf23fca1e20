"""Where an object has texts that are no quantities."""

from typing import Any

import pytest

from kubesched.api.quantity_places import invalid_quantities


def a_container(**resources: Any) -> dict[str, Any]:
    return {"name": "main", "resources": resources}


CASES: dict[str, tuple[dict[str, Any], list[tuple[str, Any]]]] = {
    "every quantity is one": ({"spec": {"containers": [a_container(requests={"cpu": "500m", "memory": 4})]}}, []),
    "a request": (
        {"spec": {"containers": [a_container(), a_container(requests={"cpu": "1 core", "memory": "1Gi"})]}},
        [("spec.containers[1].resources.requests.cpu", "1 core")],
    ),
    "what a node has": ({"status": {"allocatable": {"memory": "64 GB"}}}, [("status.allocatable.memory", "64 GB")]),
    "a template's": (
        {"spec": {"template": {"spec": {"overhead": {"cpu": "x"}}}}},
        [("spec.template.spec.overhead.cpu", "x")],
    ),
    "texts elsewhere are no quantities": ({"metadata": {"labels": {"cpu": "1 core"}}}, []),
    "a list where amounts are expected": ({"limits": [{"max": {}}, "x"]}, []),
    "null": ({"spec": {"containers": None, "overhead": None}}, []),
}


@pytest.mark.parametrize(("document", "places"), CASES.values(), ids=CASES)
def test_invalid_quantities(document: dict[str, Any], places: list[tuple[str, Any]]) -> None:
    assert list(invalid_quantities(document)) == places
