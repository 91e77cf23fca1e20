"""The address of an API server and everything that requests to it need, from an operator's configuration.

    --kubeconfig and --master ──▶ Kubeconfig ──▶ credentials, TLS, proxy ──▶ RestConfig
    neither: the service account of the pod ────────────────────────────────▲

Everything that can be checked without a request is checked here, once; problems are KubeconfigErrors.
"""

# upstream: client-go/tools/clientcmd/client_config.go, client-go/rest/{config,exec}.go (v1.36)

import os
import time
from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace
from multidict import CIMultiDict

from kubesched.client.credentials.context_choice import CURRENT_CONTEXT, ContextChoice
from kubesched.client.credentials.exec_plugin import ExecPlugin
from kubesched.client.credentials.kubeconfig import (
    EXEC_EXTENSION,
    AuthInfo,
    Kubeconfig,
    keep_tokens,
    kubectl_files,
    read_kubeconfig,
    read_merged,
)
from kubesched.client.credentials.oidc import OidcProvider
from kubesched.client.credentials.proxies import ProxyError, checked_proxy, proxy_from
from kubesched.client.credentials.sources import (
    NO_PEM,
    Credentials,
    CredentialsError,
    Pem,
    PemSource,
    Proof,
    Source,
    StaticSource,
    TokenFile,
    basic,
    bearer,
)
from kubesched.client.credentials.tls import TlsError, client_context
from kubesched.client.rest import RestConfig
from kubesched.common.notes import Note, seldom
from kubesched.config.golang import decode_base64
from kubesched.errors import KubeconfigError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
# bytes that may be part of a header's name
_NAME_BYTES = frozenset(b"!#$&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def load_rest_config(
    kubeconfig: str,
    master: str = "",
    *,
    note: Note = lambda line: None,
    environment: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
) -> RestConfig:
    """Return the API server that a kubeconfig, `master` or the pod's service account leads to."""
    note = seldom(note, time.monotonic)
    try:
        if kubeconfig:
            return _from_kubeconfig(read_kubeconfig(Path(kubeconfig), master), note, environment)
        if master:
            server = _address(master, "--master")
            return _target(server, "--master", Credentials(PemSource(), secure=_secure(server)), environment)
        note("Neither --kubeconfig nor --master was specified. Using the service account of the pod.")
        return in_cluster_config(note=note, environment=environment, service_account=service_account)
    except CredentialsError as error:
        raise KubeconfigError(str(error)) from None


def kubectl_rest_config(
    kubeconfig: str = "",
    choice: ContextChoice = CURRENT_CONTEXT,
    *,
    note: Note = lambda line: None,
    environment: Mapping[str, str] = os.environ,
) -> RestConfig:
    """Return the API server that kubectl would ask; in a pod without a kubeconfig, that of its service account."""
    note = seldom(note, time.monotonic)
    files = kubectl_files(kubeconfig, environment)
    if not files and environment.get("KUBERNETES_SERVICE_HOST") and choice == CURRENT_CONTEXT:
        return in_cluster_config(note=note, environment=environment)
    if not files and not choice.server:
        place = environment.get("KUBECONFIG") or "~/.kube/config"
        raise KubeconfigError(f"there is no kubeconfig ({place} does not exist); name one with --kubeconfig")
    try:
        found = _from_kubeconfig(read_merged(files, choice), note, environment)
    except CredentialsError as error:
        raise KubeconfigError(str(error)) from None
    return replace(found, timeout_seconds=choice.request_timeout_seconds)


def in_cluster_config(
    *,
    note: Note = lambda line: None,
    environment: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
) -> RestConfig:
    """Return the API server of the cluster that this process is a pod of."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise KubeconfigError(
            "there is no API server to speak to: set --kubeconfig, or clientConnection.kubeconfig "
            "(in a pod, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT lead to it, but they are not set)"
        )
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    origin = f"the service account in {service_account}"
    try:
        token = TokenFile(service_account / "token", origin, note=note)
        pem = _service_account_authorities(service_account, note)
        credentials = Credentials(pem, [token], note=note)
    except CredentialsError as error:
        raise KubeconfigError(f"{error}; outside a pod, set --kubeconfig") from None
    namespace = _read_namespace(service_account / "namespace")
    return _target(server, origin, credentials, environment, namespace=namespace)


def _service_account_authorities(service_account: Path, note: Note) -> PemSource:
    """Return the cluster's CAs; without them the system's are used, as upstream does."""
    path = service_account / "ca.crt"
    try:
        source = PemSource(authorities=Pem(str(path), path=path), note=note)
        client_context(source.read(rejected=False).authorities)
        return source
    except (CredentialsError, TlsError) as error:
        note(f"{error}; expected certificate authorities in {path}, those of the system are used")
        return PemSource()


def _read_namespace(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip() or "default"
    except (OSError, UnicodeDecodeError):
        return "default"


# -- kubeconfig


def _from_kubeconfig(config: Kubeconfig, note: Note, environment: Mapping[str, str]) -> RestConfig:
    cluster = config.cluster
    server = _address(cluster.server, config.where("server"))
    origin = f'context "{config.context}" in kubeconfig {config.path}'
    proxy = None
    if cluster.proxy_url:
        try:
            proxy = checked_proxy(cluster.proxy_url)
        except ProxyError as error:
            raise KubeconfigError(f"{config.where('proxy-url')}: {error}") from None
    try:
        headers = impersonation(config.user)
    except CredentialsError as error:
        raise KubeconfigError(f"{config.where('as')}: {error}") from None
    if not _secure(server):
        # upstream: credentials are for encrypted connections only
        note(f"{config.where('server')} is not https: no credentials are sent to it")
        credentials = Credentials(PemSource(), secure=False, headers=headers)
        return _target(server, origin, credentials, environment, proxy=proxy, namespace=config.namespace)
    if cluster.insecure_skip_tls_verify:
        note(f"{config.where('insecure-skip-tls-verify')} is set: whoever answers for {server} is trusted")
    pem, sources = _sources(config, server, proxy, note)
    credentials = Credentials(
        pem, sources, insecure_skip_verify=cluster.insecure_skip_tls_verify, headers=headers, note=note
    )
    return _target(
        server,
        origin,
        credentials,
        environment,
        proxy=proxy,
        server_name=cluster.tls_server_name or None,
        namespace=config.namespace,
    )


def _sources(config: Kubeconfig, server: str, proxy: str | None, note: Note) -> tuple[PemSource, list[Source]]:
    """Return the credential sources of a user; an exec plugin counts only without other credentials."""
    user = config.user
    with_certificate = bool(user.client_certificate or user.client_certificate_data)
    authorities = config.pem("certificate-authority", note)
    pem = PemSource(
        authorities=authorities,
        certificate=config.pem("client-certificate", note) if with_certificate else NO_PEM,
        key=config.pem("client-key", note) if with_certificate else NO_PEM,
        note=note,
    )
    if user.token_file:
        path = config.located(user.token_file)
        return pem, [TokenFile(path, config.where("tokenFile"), token=user.token, note=note)]
    if user.token:
        return pem, [StaticSource(Proof(bearer(user.token, config.where("token"))))]
    if user.username or user.password:
        return pem, [StaticSource(Proof(basic(user.username, user.password)))]
    if user.auth_provider is not None:
        return pem, [_oidc(config, note)]
    if user.exec is not None and not with_certificate:
        return pem, [_exec(config, server, proxy, authorities)]
    return pem, []


def _exec(config: Kubeconfig, server: str, proxy: str | None, authorities: Pem) -> ExecPlugin:
    """Return the exec plugin of a user, with the cluster information that is passed to the plugin."""
    plugin = config.user.exec
    assert plugin is not None
    if os.sep in plugin.command:
        plugin = replace(plugin, command=str(config.located(plugin.command)))
    cluster = config.cluster
    extension = next((entry.extension for entry in cluster.extensions if entry.name == EXEC_EXTENSION), None)
    told: dict[str, Any] = {
        "server": server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": b64encode(authorities.read()).decode("ascii"),
        "proxy-url": proxy,
        "disable-compression": cluster.disable_compression,
        "config": extension,
    }
    return ExecPlugin(plugin, config.where("exec"), {key: value for key, value in told.items() if value})


def _oidc(config: Kubeconfig, note: Note) -> OidcProvider:
    provider = config.user.auth_provider
    assert provider is not None
    settings, where = provider.config, config.where("auth-provider")
    field = "idp-certificate-authority"
    pem = Pem(f"{where}.config.{field}")
    if settings.idp_certificate_authority_data:
        try:
            pem = Pem(f"{where}.config.{field}-data", decode_base64(settings.idp_certificate_authority_data))
        except ValueError:
            raise KubeconfigError(f"{where}.config.{field}-data: is not base64; write the PEM file encoded") from None
    elif settings.idp_certificate_authority:
        pem = Pem(pem.where, path=config.located(settings.idp_certificate_authority))
    try:
        tls = client_context(pem.read())
    except TlsError as error:
        raise KubeconfigError(f"{pem.where}: {error}") from None
    keep = partial(keep_tokens, config.path, config.user_name)
    return OidcProvider(settings, where, tls, keep=keep, note=note)


def impersonation(user: AuthInfo) -> CIMultiDict[str]:
    """Return the impersonation headers of a user."""
    headers: CIMultiDict[str] = CIMultiDict()
    if not user.impersonate:
        return headers
    headers["Impersonate-User"] = user.impersonate
    if user.impersonate_uid:
        headers["Impersonate-Uid"] = user.impersonate_uid
    for group in user.impersonate_groups:
        headers.add("Impersonate-Group", group)
    for key, values in user.impersonate_extra.items():
        for value in values:
            headers.add(f"Impersonate-Extra-{_escaped(key)}", value)
    if not all(value.isprintable() for value in headers.values()):
        raise CredentialsError("a name to impersonate holds a line break, which no header can")
    return headers


def _escaped(key: str) -> str:
    return "".join(chr(byte) if byte in _NAME_BYTES else f"%{byte:02X}" for byte in key.encode())


# -- addresses


def _target(
    server: str,
    origin: str,
    credentials: Credentials,
    environment: Mapping[str, str],
    *,
    proxy: str | None = None,
    server_name: str | None = None,
    namespace: str = "default",
) -> RestConfig:
    if proxy is None:
        try:
            proxy = proxy_from(environment, server)
        except ProxyError as error:
            raise KubeconfigError(str(error)) from None
    return RestConfig(
        server,
        credentials.headers,
        tls=credentials.tls,
        server_name=server_name,
        proxy=proxy,
        rejected=credentials.rejected,
        origin=origin,
        namespace=namespace,
    )


def _secure(server: str) -> bool:
    return server.startswith("https://")


def _address(server: str, where: str) -> str:
    """Return a server's address as a prefix for paths; without a scheme it is http, as upstream has it."""
    try:
        parts = urlsplit(server if "://" in server else f"http://{server}")
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise KubeconfigError(f"{where}: is no address of an API server; write it as https://host:port")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
