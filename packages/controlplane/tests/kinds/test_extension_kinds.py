"""Slices of endpoints and configurations of webhooks: what is filled in, what is refused, what counts as a change."""

from typing import Any

import pytest
from tests.support.good_objects import an_api, good, path_of, put

SLICE, CHECKS, CHANGES = "EndpointSlice", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
HOOK, RULE = "webhooks|0", "webhooks|0|rules|0"

REFUSALS: list[tuple[str, str, Any, str]] = [
    (SLICE, "addressType", "IPv6", 'endpoints[0].addresses: Invalid value: "10.1.2.3": must be an IPv6 address'),
    (
        SLICE,
        "endpoints|0|addresses",
        ["10.0.0.1"] * 101,
        "endpoints[0].addresses: Too many: 101: must have at most 100 items",
    ),
    (
        SLICE,
        "endpoints|0|addresses|0",
        "127.0.0.1",
        (
            'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range '
            "(127.0.0.0/8, ::1/128)"
        ),
    ),
    (
        SLICE,
        "endpoints|0|addresses|0",
        "224.0.0.9",
        (
            'endpoints[0].addresses[0]: Invalid value: "224.0.0.9": may not be in the link-local multicast range '
            "(224.0.0.0/24, ff02::/10)"
        ),
    ),
    (SLICE, "endpoints|0|hostname", "a.b", 'endpoints[0].hostname: Invalid value: "a.b": must not contain dots'),
    (
        CHECKS,
        f"{HOOK}|name",
        "check",
        ('webhooks[0].name: Invalid value: "check": should be a domain with at least three segments separated by dots'),
    ),
    (
        CHECKS,
        f"{HOOK}|timeoutSeconds",
        31,
        "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
    ),
    (
        CHECKS,
        f"{HOOK}|clientConfig",
        {"url": "http://hook"},
        (
            "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired "
            "format: https://host[/path]"
        ),
    ),
    (
        CHECKS,
        f"{HOOK}|clientConfig|service|port",
        0,
        (
            "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, "
            "inclusive"
        ),
    ),
    (
        CHECKS,
        f"{RULE}|resources",
        ["*", "pods"],
        (
            'webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other '
            "resources without subresources"
        ),
    ),
    (
        CHANGES,
        f"{HOOK}|reinvocationPolicy",
        "Twice",
        'webhooks[0].reinvocationPolicy: Unsupported value: "Twice": supported values: "IfNeeded", "Never"',
    ),
]


@pytest.mark.parametrize(("kind", "place", "value", "problem"), REFUSALS)
def test_what_is_refused(kind: str, place: str, value: Any, problem: str) -> None:
    code, _, message = an_api().refused("POST", path_of(kind), put(good(kind), place, value))
    assert code == 422
    assert problem in message


def test_a_password_in_a_url_is_not_repeated() -> None:
    wrong = put(good(CHECKS), f"{HOOK}|clientConfig", {"url": "https://me:sesame@hook"})
    _, _, message = an_api().refused("POST", path_of(CHECKS), wrong)
    assert "user information is not permitted in the URL" in message
    assert "sesame" not in message


def test_what_is_filled_in() -> None:
    api = an_api()
    (hook,) = api.ok("POST", path_of(CHANGES), good(CHANGES))["webhooks"]
    assert hook["rules"][0]["scope"] == "*"
    assert hook["clientConfig"]["service"]["port"] == 443
    defaults = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10}
    assert hook == {**hook, **defaults, "reinvocationPolicy": "Never", "namespaceSelector": {}, "objectSelector": {}}
    slice_ = api.ok("POST", path_of(SLICE), {**good(SLICE), "ports": [{"port": 80}]})
    assert slice_["ports"] == [{"name": "", "port": 80, "protocol": "TCP"}]


CHANGED = [
    (SLICE, {"ports": [{"name": "http", "port": 81}]}, 2, "what it says has changed"),
    (SLICE, {"metadata": {"labels": {"a": "b"}}}, 2, "labels count, too"),
    (SLICE, {"metadata": {"annotations": {"a": "b"}}}, 1, "annotations do not"),
    (CHECKS, {"webhooks": None}, 2, "what it says has changed"),
    (CHECKS, {"metadata": {"labels": {"a": "b"}}}, 1, "labels do not count here"),
]


@pytest.mark.parametrize(("kind", "change", "generation", "why"), CHANGED)
def test_changes_are_counted(kind: str, change: dict[str, Any], generation: int, why: str) -> None:
    api = an_api()
    name = api.ok("POST", path_of(kind), good(kind))["metadata"]["name"]
    changed = api.ok("PATCH", path_of(kind, name), change, "application/merge-patch+json")
    assert changed["metadata"]["generation"] == generation, why


def test_endpoints_that_stay_as_they_are_are_not_looked_at() -> None:
    api = an_api()
    name = api.ok("POST", path_of(SLICE), good(SLICE))["metadata"]["name"]
    patch = {"addressType": "IPv6"}
    code, _, message = api.refused("PATCH", path_of(SLICE, name), patch, "application/merge-patch+json")
    assert code == 422
    assert message.endswith('is invalid: addressType: Invalid value: "IPv6": field is immutable')


MARK = "ingressclass.kubernetes.io/is-default-class"


@pytest.mark.parametrize(
    ("classes", "annotations", "wanted", "found"),
    [
        pytest.param({"a": "false"}, {}, None, None, id="none is marked"),
        pytest.param({"a": "false", "b": "true"}, {}, None, "b", id="the one that is marked"),
        pytest.param({"c": "true", "b": "true"}, {}, None, "b", id="of two that are as old the first by name"),
        pytest.param({"a": "true"}, {}, "mine", "mine", id="a name that is given"),
        pytest.param({"a": "true"}, {"kubernetes.io/ingress.class": "x"}, None, None, id="the old way to name one"),
    ],
)
def test_the_class_of_an_ingress_that_names_none(
    classes: dict[str, str], annotations: dict[str, str], wanted: str | None, found: str | None
) -> None:
    api = an_api()
    for name, marked in classes.items():
        kind = put(good("IngressClass"), "metadata", {"name": name, "annotations": {MARK: marked}})
        api.ok("POST", path_of("IngressClass"), kind)
    ingress = put(good("Ingress"), "spec|ingressClassName", wanted)
    made = api.ok("POST", path_of("Ingress"), put(ingress, "metadata|annotations", annotations))
    assert made["spec"].get("ingressClassName") == found
