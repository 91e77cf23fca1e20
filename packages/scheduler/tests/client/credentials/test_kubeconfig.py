"""Kubeconfig files and service accounts, the good ones and those with mistakes: what requests would show, and what is
said of a mistake."""

import asyncio
import base64
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubesched.client.credentials.kubeconfig import read_kubeconfig
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import RestConfig
from kubesched.errors import KubeconfigError

SECRET = "s3cr3t"
Write = Callable[..., str]


def shown(target: RestConfig) -> list[tuple[str, str]]:
    return list(asyncio.run(_headers(target)).items())


async def _headers(target: RestConfig) -> Any:
    return await target.headers()


def loaded(path: str, master: str = "", notes: list[str] | None = None, **environment: str) -> RestConfig:
    return load_rest_config(path, master, note=(notes if notes is not None else []).append, environment=environment)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


BASIC = base64.b64encode(b"me:s3cr3t").decode()


@pytest.mark.parametrize(
    ("sentence", "user", "expected"),
    [
        ("nobody in particular", {}, []),
        ("a token", {"token": SECRET}, [("Authorization", "Bearer s3cr3t")]),
        ("a token with a line break behind it", {"token": "s3cr3t\n"}, [("Authorization", "Bearer s3cr3t")]),
        ("a password", {"username": "me", "password": SECRET}, [("Authorization", f"Basic {BASIC}")]),
        ("a file beside the kubeconfig", {"tokenFile": "token"}, [("Authorization", "Bearer of-the-file")]),
        ("a file goes before a token", {"tokenFile": "token", "token": "x"}, [("Authorization", "Bearer of-the-file")]),
        ("a token until there is a file", {"tokenFile": "none", "token": "x"}, [("Authorization", "Bearer x")]),
        (
            "somebody else",
            {
                "token": "x",
                "as": "jane",
                "as-uid": "7",
                "as-groups": ["a", "b"],
                "as-user-extra": {"acme.com/%role": ["r1", "r2"]},
            },
            [
                ("Impersonate-User", "jane"),
                ("Impersonate-Uid", "7"),
                ("Impersonate-Group", "a"),
                ("Impersonate-Group", "b"),
                ("Impersonate-Extra-acme.com%2F%25role", "r1"),
                ("Impersonate-Extra-acme.com%2F%25role", "r2"),
                ("Authorization", "Bearer x"),
            ],
        ),
        ("nulls are nothing", {"token": "x", "exec": None, "as-groups": None}, [("Authorization", "Bearer x")]),
        (
            "a token goes before a plugin",
            {"token": "x", "exec": {"command": "/nowhere", "apiVersion": "client.authentication.k8s.io/v1beta1"}},
            [("Authorization", "Bearer x")],
        ),
    ],
)
def test_what_requests_show(
    sentence: str, user: dict[str, Any], expected: list[tuple[str, str]], kubeconfig: Write, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("of-the-file\n")
    assert shown(loaded(kubeconfig(user))) == expected, sentence


@pytest.mark.parametrize(
    ("server", "master", "expected"),
    [
        ("https://host:6443", "", "https://host:6443"),
        ("https://host:6443/", "", "https://host:6443"),
        ("https://host/behind/a/proxy/?x=1#y", "", "https://host/behind/a/proxy"),
        ("https://[fd00::1]:6443", "", "https://[fd00::1]:6443"),
        ("host:8080", "", "http://host:8080"),
        ("https://host:6443", "https://other:443", "https://other:443"),
    ],
)
def test_addresses(server: str, master: str, expected: str, kubeconfig: Write) -> None:
    assert loaded(kubeconfig(cluster={"server": server}), master).server == expected


def test_another_server_has_another_name(kubeconfig: Write) -> None:
    path = kubeconfig(cluster={"tls-server-name": "kubernetes"})
    assert loaded(path).server_name == "kubernetes"
    assert loaded(path, "https://other").server_name is None


def test_the_server_alone_is_spoken_to_by_nobody_in_particular() -> None:
    target = loaded("", "http://127.0.0.1:8080/")
    assert (target.server, shown(target)) == ("http://127.0.0.1:8080", [])


def test_credentials_are_not_sent_in_the_clear(kubeconfig: Write) -> None:
    notes: list[str] = []
    target = loaded(kubeconfig({"token": SECRET, "as": "jane"}, {"server": "http://127.0.0.1:1"}), notes=notes)
    assert shown(target) == [("Impersonate-User", "jane")]
    assert notes[0].endswith('cluster "c": server is not https: no credentials are sent to it')
    assert not callable(target.tls) or target.tls() is None


def test_the_context_says_the_namespace(kubeconfig: Write) -> None:
    contexts = [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "team"}}]
    assert loaded(kubeconfig(contexts=contexts)).namespace == "team"
    assert loaded(kubeconfig()).namespace == "default"


def test_a_server_that_nobody_vouches_for_is_trusted_with_a_warning(kubeconfig: Write) -> None:
    notes: list[str] = []
    target = loaded(kubeconfig(cluster={"insecure-skip-tls-verify": True}), notes=notes)
    assert callable(target.tls)
    context = target.tls()
    assert context is not None
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)
    assert 'cluster "c": insecure-skip-tls-verify is set: whoever answers for https://127.0.0.1:1' in notes[0]


def test_data_counts_where_there_is_a_file_as_well(kubeconfig: Write, authority: Any, tmp_path: Path) -> None:
    mine = authority.issue("me")
    (tmp_path / "ca").write_text("no certificate")
    notes: list[str] = []
    path = kubeconfig(
        {
            "client-certificate-data": encoded(mine.certificate),
            "client-certificate": "ca",
            "client-key-data": encoded(mine.key),
        },
        {"certificate-authority-data": encoded(authority.certificate), "certificate-authority": "ca"},
    )
    assert loaded(path, notes=notes)
    assert [note.partition(": ")[2] for note in notes] == [
        'cluster "c": certificate-authority is given twice; certificate-authority-data is used',
        'user "u": client-certificate is given twice; client-certificate-data is used',
    ]


def test_certificates_in_files_beside_the_kubeconfig(kubeconfig: Write, authority: Any, tmp_path: Path) -> None:
    mine = authority.issue("me")
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "me.crt").write_bytes(mine.certificate)
    (tmp_path / "pki" / "me.key").write_bytes(mine.key)
    (tmp_path / "ca.crt").write_bytes(b"a comment\n" + authority.certificate + "mit ü\n".encode())
    user = {"client-certificate": "pki/me.crt", "client-key": str(tmp_path / "pki" / "me.key")}
    target = loaded(kubeconfig(user, {"certificate-authority": "ca.crt"}))
    assert callable(target.tls)
    context = target.tls()
    assert context is not None
    assert [entry["subject"] for entry in context.get_ca_certs()] == [((("commonName", "authority"),),)]


# -- mistakes

EXEC = {"command": "plugin", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}
OIDC = {"idp-issuer-url": "https://issuer", "client-id": "me"}
GARBAGE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    (
        "an unknown context",
        {"current-context": "y"},
        'current-context "y" does not exist; there are: "x"',
    ),
    ("no context", {"current-context": ""}, 'current-context is not set; set it to one of: "x"'),
    ("a missing cluster", {"clusters": None}, 'context "x": cluster "c" does not exist; there are: none'),
    ("a missing user", {"users": []}, 'context "x": user "u" does not exist; there are: none'),
    (
        "a context without a cluster",
        {"contexts": [{"name": "x", "context": {"user": "u"}}]},
        'context "x": cluster is not set; set it to a name in clusters',
    ),
    (
        "a name that exists twice",
        {"users": [{"name": "u"}, {"name": "u"}]},
        'context "x": user "u" exists 2 times; remove all but one',
    ),
    (
        "no server",
        {"cluster": {"server": ""}},
        'cluster "c": server: is not set; set it to the address of the API server (https://host:port)',
    ),
    (
        "a server that is none",
        {"cluster": {"server": "ftp://host"}},
        'cluster "c": server: is no address of an API server; write it as https://host:port',
    ),
    (
        "a port that is none",
        {"cluster": {"server": "https://host:99999"}},
        'cluster "c": server: is no address of an API server; write it as https://host:port',
    ),
    (
        "a number for a text",
        {"cluster": {"server": 5}},
        "clusters[0].cluster.server: expected a string, got a number",
    ),
    ("a text for a list", {"users": SECRET}, "users: expected a list, got a string"),
    ("another kind", {"kind": "Pod"}, "is of another kind; a kubeconfig has apiVersion v1 and kind Config"),
    (
        "authorities that are not base64",
        {"cluster": {"certificate-authority-data": f"%{SECRET}"}},
        'cluster "c": certificate-authority-data: is not base64; write the PEM file encoded (base64 -w0)',
    ),
    (
        "authorities that are no PEM",
        {"cluster": {"certificate-authority-data": encoded(SECRET.encode())}},
        'cluster "c": certificate-authority-data: holds no PEM certificate (-----BEGIN CERTIFICATE-----)',
    ),
    (
        "authorities that are garbage",
        {"cluster": {"certificate-authority-data": encoded(GARBAGE.encode())}},
        'cluster "c": certificate-authority-data: holds a certificate that cannot be read',
    ),
    (
        "authorities in a file that is not there",
        {"cluster": {"certificate-authority": "none"}},
        'cluster "c": certificate-authority: cannot read FOLDER/none: No such file or directory',
    ),
    (
        "authorities in an empty file",
        {"cluster": {"certificate-authority": "empty"}},
        'cluster "c": certificate-authority: FOLDER/empty is empty',
    ),
    (
        "authorities that do not matter",
        {"cluster": {"certificate-authority": "empty", "insecure-skip-tls-verify": True}},
        'cluster "c": insecure-skip-tls-verify: cannot be set beside certificate-authority; remove one of them',
    ),
    (
        "a SOCKS proxy",
        {"cluster": {"proxy-url": "socks5://me:s3cr3t@host"}},
        'cluster "c": proxy-url: names a SOCKS proxy, which is not supported; use an HTTP proxy (http://host:port)',
    ),
    (
        "a proxy that is none",
        {"cluster": {"proxy-url": f"{SECRET}:1"}},
        'cluster "c": proxy-url: is no address of an HTTP proxy; write it as http://host:port',
    ),
    (
        "a certificate without a key",
        {"user": {"client-certificate": "me.crt"}},
        'user "u": client-key: is not set, but client-certificate is; set client-key or client-key-data',
    ),
    (
        "a key for another certificate",
        {"user": {"client-certificate": "me.crt", "client-key": "you.key"}},
        'user "u": client-key: does not belong to the certificate',
    ),
    (
        "a certificate for a key",
        {"user": {"client-certificate": "me.crt", "client-key": "me.crt"}},
        'user "u": client-key: holds no PEM private key (-----BEGIN PRIVATE KEY-----)',
    ),
    (
        "a key for a certificate",
        {"user": {"client-certificate": "me.key", "client-key": "me.key"}},
        'user "u": client-certificate: holds no PEM certificate (-----BEGIN CERTIFICATE-----)',
    ),
    (
        "a key behind a passphrase",
        {"user": {"client-certificate": "me.crt", "client-key": "locked.key"}},
        'user "u": client-key: is protected by a passphrase; write it without one (openssl pkey)',
    ),
    (
        "a certificate that is garbage",
        {"user": {"client-certificate-data": encoded(GARBAGE.encode()), "client-key": "me.key"}},
        'user "u": client-certificate-data: cannot be read',
    ),
    (
        "a key that is not base64",
        {"user": {"client-certificate": "me.crt", "client-key-data": SECRET}},
        'user "u": client-key-data: is not base64; write the PEM file encoded (base64 -w0)',
    ),
    (
        "a token that is none",
        {"user": {"token": f"{SECRET}\n{SECRET}"}},
        'user "u": token: the token holds characters that no token has; is it one line of text?',
    ),
    (
        "a token file that is not there",
        {"user": {"tokenFile": "none"}},
        'user "u": tokenFile: cannot read FOLDER/none: No such file or directory',
    ),
    ("an empty token file", {"user": {"tokenFile": "empty"}}, 'user "u": tokenFile: FOLDER/empty is empty'),
    (
        "a token and a password",
        {"user": {"token": SECRET, "username": "me", "password": SECRET}},
        'user "u": token: cannot be set beside username and password; remove one of them',
    ),
    (
        "groups of nobody",
        {"user": {"as-groups": ["g"]}},
        'user "u": as: is not set, but as-uid, as-groups or as-user-extra is; say whom to impersonate',
    ),
    (
        "a name that is none",
        {"user": {"as": "jane\nX-Other: y"}},
        'user "u": as: a name to impersonate holds a line break, which no header can',
    ),
    (
        "a provider that is gone",
        {"user": {"auth-provider": {"name": "gcp", "config": {"access-token": SECRET}}}},
        'user "u": auth-provider: "gcp" is not supported; use oidc, or an exec plugin',
    ),
    (
        "a provider and a plugin",
        {"user": {"auth-provider": {"name": "oidc", "config": OIDC}, "exec": EXEC}},
        'user "u": auth-provider: cannot be set beside exec; remove one of them',
    ),
    (
        "an issuer without an address",
        {"user": {"auth-provider": {"name": "oidc", "config": {"client-id": "me"}}}},
        'user "u": auth-provider.config.idp-issuer-url: is not set; set it to the address of the issuer',
    ),
    (
        "an issuer that does not know the client",
        {"user": {"auth-provider": {"name": "oidc", "config": {"idp-issuer-url": "https://issuer"}}}},
        'user "u": auth-provider.config.client-id: is not set; set it to the name that the issuer knows the client by',
    ),
    (
        "an ID token that is none",
        {"user": {"auth-provider": {"name": "oidc", "config": {**OIDC, "id-token": SECRET}}}},
        'user "u": auth-provider: the ID token is no JSON Web Token; log in again',
    ),
    (
        "an issuer's authorities that are not base64",
        {"user": {"auth-provider": {"name": "oidc", "config": {**OIDC, "idp-certificate-authority-data": "%"}}}},
        'user "u": auth-provider.config.idp-certificate-authority-data: is not base64; write the PEM file encoded',
    ),
    (
        "a plugin without a command",
        {"user": {"exec": {**EXEC, "command": ""}}},
        'user "u": exec.command: is not set; set it to the program that gives credentials',
    ),
    (
        "a plugin of an old version",
        {"user": {"exec": {**EXEC, "apiVersion": "client.authentication.k8s.io/v1alpha1"}}},
        'user "u": exec.apiVersion: is none of client.authentication.k8s.io/v1, '
        "client.authentication.k8s.io/v1beta1; use one that the program knows",
    ),
    (
        "a plugin that does not say whether it asks",
        {"user": {"exec": {**EXEC, "interactiveMode": None}}},
        'user "u": exec.interactiveMode: is none of Never, IfAvailable, Always',
    ),
    (
        "a plugin with a nameless variable",
        {"user": {"exec": {**EXEC, "env": [{"value": SECRET}]}}},
        'user "u": exec.env: has an entry without a name',
    ),
]


@pytest.mark.parametrize(("sentence", "changes", "expected"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_mistakes_are_named_with_their_place_and_cure(
    sentence: str, changes: dict[str, Any], expected: str, kubeconfig: Write, authority: Any, tmp_path: Path
) -> None:
    me, you = authority.issue("me"), authority.issue("you")
    files = {"me.crt": me.certificate, "me.key": me.key, "you.key": you.key, "empty": b"\n"}
    files["locked.key"] = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    path = kubeconfig(**changes)
    with pytest.raises(KubeconfigError) as caught:
        loaded(path)
    assert str(caught.value) == f"kubeconfig {path}: {expected.replace('FOLDER', str(tmp_path))}"
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "there is no such file; check --kubeconfig, or clientConnection.kubeconfig"),
        (b"clusters: [", "is not YAML: line 2: did not find expected node content"),
        (b"\xff\xfe\x00", "is not YAML: it is no UTF-8 text"),
        (b"users: [{user: {token: *s3cr3t}}]", "is not YAML: line 1: unknown anchor a value referenced"),
        (b"a: 1\na: 2", 'is not YAML: line 2: key "a" already set in map'),
        (b"", "holds no mapping with clusters, users and contexts"),
        (b"- a", "holds no mapping with clusters, users and contexts"),
    ],
)
def test_files_that_are_no_kubeconfig(content: bytes | None, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "broken"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(KubeconfigError) as caught:
        loaded(str(file))
    assert str(caught.value) == f"kubeconfig {file}: {expected}"


def test_a_file_without_end_is_no_kubeconfig(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(20 << 30)
    for path in ("/dev/zero", str(sparse)):
        with pytest.raises(KubeconfigError, match="is larger than 16 MiB; is it the right file"):
            loaded(path)


def test_a_kubeconfig_may_come_through_a_pipe(kubeconfig: Write) -> None:
    text = Path(kubeconfig({"token": SECRET})).read_bytes()
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(text)
        assert shown(loaded(f"/dev/fd/{reading}")) == [("Authorization", f"Bearer {SECRET}")]
    finally:
        os.close(reading)


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="cannot be read: Is a directory"):
        loaded(str(tmp_path))


# -- service accounts


def service_account(folder: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def in_cluster(folder: Path, notes: list[str], **environment: str) -> RestConfig:
    return load_rest_config("", note=notes.append, environment=environment, service_account=folder)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")],
)
def test_a_pod_speaks_to_its_cluster(host: str, expected: str, authority: Any, tmp_path: Path) -> None:
    notes: list[str] = []
    folder = service_account(tmp_path, token="of-the-pod\n", ca_crt=authority.certificate, namespace="kube-system\n")
    target = in_cluster(folder, notes, KUBERNETES_SERVICE_HOST=host, KUBERNETES_SERVICE_PORT="443")
    assert (target.server, target.namespace) == (expected, "kube-system")
    assert shown(target) == [("Authorization", "Bearer of-the-pod")]
    assert notes == ["Neither --kubeconfig nor --master was specified. Using the service account of the pod."]


def test_a_pod_without_authorities_trusts_the_system(tmp_path: Path) -> None:
    notes: list[str] = []
    folder = service_account(tmp_path, token="of-the-pod", ca_crt="no certificate")
    target = in_cluster(folder, notes, KUBERNETES_SERVICE_HOST="h", KUBERNETES_SERVICE_PORT="443")
    assert shown(target) == [("Authorization", "Bearer of-the-pod")]
    assert notes[1].endswith(f"expected certificate authorities in {tmp_path / 'ca.crt'}, those of the system are used")


def test_outside_a_pod_and_without_a_kubeconfig_there_is_nobody_to_speak_to(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="there is no API server to speak to: set --kubeconfig"):
        in_cluster(tmp_path, [])
    with pytest.raises(
        KubeconfigError, match=r"cannot read .*/token: No such file .*; outside a pod, set --kubeconfig"
    ):
        in_cluster(tmp_path, [], KUBERNETES_SERVICE_HOST="h", KUBERNETES_SERVICE_PORT="443")


def test_secrets_are_not_written_by_accident(kubeconfig: Write) -> None:
    provider = {"name": "oidc", "config": {**OIDC, "refresh-token": SECRET, "client-secret": SECRET}}
    plugin = {**EXEC, "env": [{"name": "PASSWORD", "value": SECRET}]}
    for user in (
        {"token": SECRET},
        {"username": "me", "password": SECRET},
        {"auth-provider": provider},
        {"exec": plugin},
    ):
        config = read_kubeconfig(Path(kubeconfig(user)))
        assert SECRET not in f"{config!r} {config.user!r} {config.user.exec!r} {config.user.auth_provider!r}"


def test_errors_of_requests_can_say_where_credentials_came_from(kubeconfig: Write) -> None:
    path = kubeconfig()
    assert loaded(path).origin == f'context "x" in kubeconfig {path}'
