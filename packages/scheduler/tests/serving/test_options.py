"""Flags of serving: how they become options, and everything that cannot be in one sentence."""

import pytest

from kubesched.run.flags import AUTHENTICATION, AUTHORIZATION, SECURE_SERVING
from kubesched.run.go_flags import parse_flags
from kubesched.serving.options import NamedPair, ServingError, ServingOptions, named_pair, options_from


def options(*arguments: str) -> ServingOptions:
    return options_from(
        parse_flags((SECURE_SERVING, AUTHENTICATION, AUTHORIZATION), arguments, "kube-scheduler").values
    )


def test_without_flags_the_options_are_the_usual_ones() -> None:
    assert options() == ServingOptions()


def test_every_flag_is_an_option() -> None:
    """Or says itself that it means nothing here."""
    flags = {flag.name for group in (SECURE_SERVING, AUTHENTICATION, AUTHORIZATION) for flag in group.flags}
    named = {field.replace("_", "-") for field in ServingOptions.__struct_fields__}
    elsewhere = {"authentication-kubeconfig", "authorization-kubeconfig"}
    nothing = {"disable-http2-serving", "http2-max-streams-per-connection", "tls-curve-preferences"}
    assert named == flags - elsewhere - nothing


def test_values_of_flags() -> None:
    found = options(
        "--bind-address=::1",
        "--secure-port=0",
        "--tls-sni-cert-key=a.crt,a.key:a.example,b.example",
        "--tls-sni-cert-key=b.crt,b.key",
        "--authorization-always-allow-paths=/healthz,/metrics*",
        "--authentication-token-webhook-cache-ttl=1m30s",
        "--authentication-tolerate-lookup-failure=false",
    )
    assert (found.bind_address, found.secure_port) == ("::1", 0)
    assert found.tls_sni_cert_key == ("a.crt,a.key:a.example,b.example", "b.crt,b.key")
    assert found.authorization_always_allow_paths == ("/healthz", "/metrics*")
    assert found.authentication_token_webhook_cache_ttl == 90.0
    assert found.authentication_tolerate_lookup_failure is False


@pytest.mark.parametrize(
    ("case", "text", "pair"),
    [
        ("names that are in the certificate", "a.crt,a.key", NamedPair("a.crt", "a.key", ())),
        ("names that are given", "a.crt,a.key:x,*.y", NamedPair("a.crt", "a.key", ("x", "*.y"))),
        ("white space", " a.crt , a.key : x , y ", NamedPair("a.crt", "a.key", ("x", "y"))),
        ("an address with colons", "a.crt,a.key:::1", NamedPair("a.crt", "a.key", ("::1",))),
    ],
)
def test_pairs_with_names(case: str, text: str, pair: NamedPair) -> None:
    assert named_pair(text) == pair, case


@pytest.mark.parametrize(
    ("case", "wrong", "text"),
    [
        ("no address", {"bind_address": "here"}, "--bind-address here is no IP address"),
        (
            "no port",
            {"secure_port": 70000},
            "--secure-port 70000 must be between 0 and 65535, inclusive. 0 for turning off secure port",
        ),
        (
            "half a pair",
            {"tls_cert_file": "a.crt"},
            "--tls-cert-file and --tls-private-key-file must be given together",
        ),
        (
            "a certificate without a key",
            {"tls_sni_cert_key": ("a.crt",)},
            "--tls-sni-cert-key a.crt: expected a certificate file, a comma and a key file",
        ),
        (
            "a colon without names",
            {"tls_sni_cert_key": ("a.crt,a.key:",)},
            "--tls-sni-cert-key a.crt,a.key:: names are expected after the colon",
        ),
        (
            "an empty header",
            {"requestheader_username_headers": ("X-User", " ")},
            "--requestheader-username-headers has an empty value; leave it out",
        ),
        (
            "a star in the middle",
            {"authorization_always_allow_paths": ("/a*b", "/c*")},
            '--authorization-always-allow-paths: only trailing * allowed in "/a*b"',
        ),
        (
            "all that is wrong is said",
            {"bind_address": "x", "secure_port": -1, "tls_cert_file": "a"},
            "--bind-address x is no IP address; --secure-port -1 must be between 0 and 65535, inclusive. 0 for turning "
            "off secure port; --tls-cert-file and --tls-private-key-file must be given together",
        ),
    ],
)
def test_what_cannot_be(case: str, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(ServingError) as raised:
        ServingOptions(**wrong).checked()  # type: ignore[arg-type]
    assert str(raised.value) == text, case
