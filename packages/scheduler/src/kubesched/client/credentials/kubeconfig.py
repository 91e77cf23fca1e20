"""Kubeconfig files: the cluster to connect to, and the user to authenticate as.

From a file to the cluster and the user of its current context, checked: a mistake is one line that names the file, the
field and what to do. Values that may be secret are in no text.
"""

# upstream: client-go/tools/clientcmd/{loader,client_config,validation}.go (v1.36)

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar

import msgspec

from kubesched.client.credentials.context_choice import CURRENT_CONTEXT, ContextChoice
from kubesched.client.credentials.exec_plugin import API_VERSIONS, INTERACTIVE_MODES, ExecConfig, without_nulls
from kubesched.client.credentials.oidc import OidcConfig, OidcTokens
from kubesched.client.credentials.sources import Pem, Secret
from kubesched.common.files import MissingFileError, TooLargeFileError, UnusableFileError, read_at_most
from kubesched.common.notes import Note
from kubesched.config.document import DocumentError, dump, parse
from kubesched.config.golang import decode_base64
from kubesched.errors import KubeconfigError

# kubeconfigs of hundreds of clusters have a few megabytes
LARGEST = 16 << 20
# the cluster's extension that exec plugins get
EXEC_EXTENSION = "client.authentication.k8s.io/exec"


class _Part(Secret, frozen=True, rename="kebab"):
    """Base of the parts of a kubeconfig."""


class Extension(_Part, frozen=True):
    """clusters[].cluster.extensions[]"""

    name: str = ""
    extension: Any = None


class ClusterInfo(_Part, frozen=True):
    """clusters[].cluster"""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: tuple[Extension, ...] = ()


class AuthProvider(_Part, frozen=True):
    """users[].user.auth-provider"""

    name: str = ""
    config: OidcConfig = OidcConfig()


class AuthInfo(_Part, frozen=True):
    """users[].user"""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: tuple[str, ...] = msgspec.field(default=(), name="as-groups")
    impersonate_extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict, name="as-user-extra")
    auth_provider: AuthProvider | None = None
    exec: ExecConfig | None = None


class ContextInfo(_Part, frozen=True):
    """contexts[].context"""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class ClusterEntry(_Part, frozen=True):
    """clusters[]"""

    name: str = ""
    cluster: ClusterInfo = ClusterInfo()


class AuthInfoEntry(_Part, frozen=True):
    """users[]"""

    name: str = ""
    user: AuthInfo = AuthInfo()


class ContextEntry(_Part, frozen=True):
    """contexts[]"""

    name: str = ""
    context: ContextInfo = ContextInfo()


class _Document(_Part, frozen=True):
    clusters: tuple[ClusterEntry, ...] = ()
    users: tuple[AuthInfoEntry, ...] = ()
    contexts: tuple[ContextEntry, ...] = ()
    current_context: str = ""


Named = TypeVar("Named", ClusterEntry, AuthInfoEntry, ContextEntry)


class Kubeconfig(msgspec.Struct, frozen=True):
    """The cluster and user of a kubeconfig's current context; --master may replace the server."""

    path: Path
    context: str
    namespace: str
    cluster_name: str
    cluster: ClusterInfo
    user_name: str
    user: AuthInfo
    # the file of the cluster, if that is another one than the user's
    cluster_path: Path | None = None

    def where(self, field: str) -> str:
        """Return the name of a field of the user or the cluster, for error texts."""
        if field in _CLUSTER_FIELDS:
            return f'kubeconfig {self.cluster_path or self.path}: cluster "{self.cluster_name}": {field}'
        return f'kubeconfig {self.path}: user "{self.user_name}": {field}'

    def located(self, path: str) -> Path:
        """Return the path of a file that the user's entry names; relative paths start at the kubeconfig's directory."""
        return _located(self.path, path)

    def pem(self, field: str, note: Note) -> Pem:
        """Return the PEM bytes of a field (client-key, for example), given as data or in a file."""
        part: Any = self.cluster if field in _CLUSTER_FIELDS else self.user
        attribute = field.replace("-", "_")
        data, path = getattr(part, f"{attribute}_data"), getattr(part, attribute)
        if not data:
            file = (self.cluster_path or self.path) if field in _CLUSTER_FIELDS else self.path
            return Pem(self.where(field), path=_located(file, path) if path else None)
        if path:
            # differs (D-062): the reference refuses such a file, with a message that the data will be used
            note(f"{self.where(field)} is given twice; {field}-data is used")
        where = self.where(f"{field}-data")
        try:
            return Pem(where, decode_base64(data))
        except ValueError:
            raise KubeconfigError(f"{where}: is not base64; write the PEM file encoded (base64 -w0)") from None


_CLUSTER_FIELDS = frozenset(
    field for name in msgspec.structs.fields(ClusterInfo) for field in (name.encode_name, f"{name.encode_name}-data")
)


def _located(file: Path, path: str) -> Path:
    return Path(os.path.normpath(file.absolute().parent / path))


def kubectl_files(explicit: str, environment: Mapping[str, str]) -> list[Path]:
    """Return the kubeconfig files that kubectl would read: an explicit one, those in KUBECONFIG, or ~/.kube/config."""
    if explicit:
        return [Path(explicit)]
    listed = [Path(each) for each in environment.get("KUBECONFIG", "").split(os.pathsep) if each]
    return [file for file in listed or [Path.home() / ".kube" / "config"] if file.exists()]


# upstream: client-go/tools/clientcmd/{loader,overrides}.go (v1.36)
def read_merged(files: Sequence[Path], choice: ContextChoice) -> Kubeconfig:
    """Return the context of some kubeconfigs; of entries with the same name, the first file's counts."""
    documents = [(file, _decoded(file, _read(file))) for file in files]
    everywhere = Path(os.pathsep.join(map(str, files)))
    current = choice.context or next((each.current_context for _, each in documents if each.current_context), "")
    all_of = _Document(
        clusters=_first_of_each(entry for _, each in documents for entry in each.clusters),
        users=_first_of_each(entry for _, each in documents for entry in each.users),
        contexts=_first_of_each(entry for _, each in documents for entry in each.contexts),
        current_context=current,
    )
    context = ContextInfo()
    if current or not (choice.server or (choice.cluster and choice.user)):
        context = _context(everywhere, all_of, "--context" if choice.context else "current-context")
    context = msgspec.structs.replace(
        context, cluster=choice.cluster or context.cluster, user=choice.user or context.user
    )
    found = _in_context(everywhere, all_of, context, choice)
    users = [file for file, each in documents for entry in each.users if entry.name == found.user_name]
    clusters = [file for file, each in documents for entry in each.clusters if entry.name == found.cluster_name]
    # a server of the command line needs no file
    paths = [*users, *clusters, *files, everywhere]
    return msgspec.structs.replace(found, path=paths[0], cluster_path=clusters[0] if clusters else None)


def _first_of_each(entries: Iterable[Named]) -> tuple[Named, ...]:
    found: dict[str, Named] = {}
    for entry in entries:
        found.setdefault(entry.name, entry)
    return tuple(found.values())


def _context(path: Path, document: _Document, field: str) -> ContextInfo:
    if not document.current_context:
        known = _names(document.contexts)
        raise KubeconfigError(f"kubeconfig {path}: {field} is not set; set it to one of: {known}")
    return _entry(path, document.contexts, document.current_context, field).context


def read_kubeconfig(path: Path, master: str = "") -> Kubeconfig:
    """Return the contents of a kubeconfig; `master` replaces its server, if given."""
    document = _decoded(path, _read(path))
    context = ContextInfo()
    if document.current_context or not master:
        context = _context(path, document, "current-context")
    return _in_context(path, document, context, ContextChoice(server=master) if master else CURRENT_CONTEXT)


def _in_context(path: Path, document: _Document, context: ContextInfo, choice: ContextChoice) -> Kubeconfig:
    """Return the checked cluster and user of a context with the overrides of the command line."""
    of = f'context "{document.current_context}"'
    cluster, user = ClusterInfo(), AuthInfo()
    if context.cluster:
        cluster = _entry(path, document.clusters, context.cluster, f"{of}: cluster").cluster
    elif not choice.server:
        raise KubeconfigError(f"kubeconfig {path}: {of}: cluster is not set; set it to a name in clusters")
    if context.user:
        # differs (D-063): the reference treats a missing user as anonymous
        user = _entry(path, document.users, context.user, f"{of}: user").user
    cluster, user = _chosen_cluster(cluster, choice), _chosen_user(user, choice)
    config = Kubeconfig(
        path, document.current_context, context.namespace or "default", context.cluster, cluster, context.user, user
    )
    for problem in (_cluster_problem(cluster), _user_problem(user)):
        if problem is not None:
            raise KubeconfigError(f"{config.where(problem[0])}: {problem[1]}")
    return config


def _chosen_cluster(cluster: ClusterInfo, choice: ContextChoice) -> ClusterInfo:
    """Return a cluster with the command line's overrides; another server drops its authority and server name."""
    fields: dict[str, Any] = {}
    if choice.server:
        fields["server"] = choice.server
    if choice.server or choice.tls_server_name:
        fields["tls_server_name"] = choice.tls_server_name
    if choice.insecure_skip_tls_verify or choice.certificate_authority:
        fields["insecure_skip_tls_verify"] = choice.insecure_skip_tls_verify
        fields["certificate_authority"] = _from_here(choice.certificate_authority)
        fields["certificate_authority_data"] = ""
    return msgspec.structs.replace(cluster, **fields)


def _chosen_user(user: AuthInfo, choice: ContextChoice) -> AuthInfo:
    """Return a user with the command line's overrides; a token there replaces all other credentials."""
    fields: dict[str, Any] = {}
    if choice.token:
        others = {"token_file": "", "username": "", "password": "", "auth_provider": None, "exec": None}
        fields = {**others, "token": choice.token}
    if choice.client_certificate or choice.client_key:
        fields["client_certificate_data"] = fields["client_key_data"] = ""
        fields["client_certificate"] = _from_here(choice.client_certificate)
        fields["client_key"] = _from_here(choice.client_key)
    for name in ("impersonate", "impersonate_uid", "impersonate_groups"):
        if value := getattr(choice, name):
            fields[name] = value
    return msgspec.structs.replace(user, **fields)


def _from_here(path: str) -> str:
    return str(Path(path).absolute()) if path else ""


def keep_tokens(path: Path, user_name: str, tokens: OidcTokens) -> None:
    """Write new tokens of a user back to a kubeconfig, all or nothing."""
    target = path.resolve()
    document = parse(target.read_text())
    for entry in document.get("users") or ():
        if entry.get("name") == user_name:
            config = entry["user"]["auth-provider"]["config"]
            config["id-token"], config["refresh-token"] = tokens.id_token, tokens.refresh_token
    with NamedTemporaryFile("w", dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            file.write(dump(document))
            os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


# -- reading


def _read(path: Path) -> Any:
    try:
        text = read_at_most(path, LARGEST).decode()
    except TooLargeFileError:
        raise KubeconfigError(f"kubeconfig {path}: is larger than {LARGEST >> 20} MiB; is it the right file?") from None
    except MissingFileError:
        raise KubeconfigError(
            f"kubeconfig {path}: there is no such file; check --kubeconfig, or clientConnection.kubeconfig"
        ) from None
    except UnusableFileError as error:
        raise KubeconfigError(f"kubeconfig {path}: cannot be read: {error.reason}") from None
    except UnicodeDecodeError:
        raise KubeconfigError(f"kubeconfig {path}: is not YAML: it is no UTF-8 text") from None
    try:
        return parse(text)
    except DocumentError as error:
        # a quoted value may be a secret, unless it is a key
        problem = re.sub(r'(?<!key )"[^"]*"', "a value", str(error).removeprefix("yaml: "))
        raise KubeconfigError(f"kubeconfig {path}: is not YAML: {problem}") from None


def _decoded(path: Path, document: Any) -> _Document:
    if not isinstance(document, dict):
        raise KubeconfigError(f"kubeconfig {path}: holds no mapping with clusters, users and contexts")
    version, kind = document.get("apiVersion") or "v1", document.get("kind") or "Config"
    if (version, kind) != ("v1", "Config"):
        raise KubeconfigError(f"kubeconfig {path}: is of another kind; a kubeconfig has apiVersion v1 and kind Config")
    try:
        return msgspec.convert(without_nulls(document), _Document)
    except msgspec.ValidationError as error:
        raise KubeconfigError(f"kubeconfig {path}: {_field_error(str(error))}") from None


_WORDS = {
    "str": "a string",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
}


def _field_error(text: str) -> str:
    """Return `field: expected this, got that` for an error of msgspec."""
    message, _, place = text.partition(" - at `$")
    words = re.sub(r"`(\w+)[^`]*`", lambda match: _WORDS.get(match[1], match[1]), message)
    return f"{place.strip('`').removeprefix('.')}: {words[:1].lower()}{words[1:]}"


def _entry(path: Path, entries: Sequence[Named], name: str, field: str) -> Named:
    """Return the entry of a list that a field names."""
    found = [entry for entry in entries if entry.name == name]
    if not found:
        raise KubeconfigError(f'kubeconfig {path}: {field} "{name}" does not exist; there are: {_names(entries)}')
    if len(found) > 1:
        raise KubeconfigError(f'kubeconfig {path}: {field} "{name}" exists {len(found)} times; remove all but one')
    return found[0]


def _names(entries: Sequence[Named]) -> str:
    return ", ".join(f'"{entry.name}"' for entry in entries) or "none"


# -- checking: the field and its problem

_Problem = tuple[str, str] | None


def _cluster_problem(cluster: ClusterInfo) -> _Problem:
    if not cluster.server:
        return "server", "is not set; set it to the address of the API server (https://host:port)"
    authority = cluster.certificate_authority or cluster.certificate_authority_data
    if cluster.insecure_skip_tls_verify and authority:
        return "insecure-skip-tls-verify", "cannot be set beside certificate-authority; remove one of them"
    return None


def _user_problem(user: AuthInfo) -> _Problem:
    if (user.client_certificate or user.client_certificate_data) and not (user.client_key or user.client_key_data):
        return "client-key", "is not set, but client-certificate is; set client-key or client-key-data"
    if user.token and (user.username or user.password):
        return "token", "cannot be set beside username and password; remove one of them"
    if (user.impersonate_uid or user.impersonate_groups or user.impersonate_extra) and not user.impersonate:
        return "as", "is not set, but as-uid, as-groups or as-user-extra is; say whom to impersonate"
    if user.exec is not None:
        if user.auth_provider is not None:
            return "auth-provider", "cannot be set beside exec; remove one of them"
        return _exec_problem(user.exec)
    if user.auth_provider is not None:
        return _provider_problem(user.auth_provider)
    return None


def _exec_problem(plugin: ExecConfig) -> _Problem:
    if not plugin.command:
        return "exec.command", "is not set; set it to the program that gives credentials"
    if plugin.api_version not in API_VERSIONS:
        return "exec.apiVersion", f"is none of {', '.join(API_VERSIONS)}; use one that the program knows"
    if not all(variable.name for variable in plugin.env):
        return "exec.env", "has an entry without a name"
    # the version before the first stable one has a default
    if plugin.interactive_mode not in INTERACTIVE_MODES and (
        plugin.interactive_mode or plugin.api_version == API_VERSIONS[0]
    ):
        return "exec.interactiveMode", f"is none of {', '.join(INTERACTIVE_MODES)}"
    return None


def _provider_problem(provider: AuthProvider) -> _Problem:
    if provider.name != "oidc":
        return "auth-provider", f'"{provider.name}" is not supported; use oidc, or an exec plugin'
    if not provider.config.idp_issuer_url:
        return "auth-provider.config.idp-issuer-url", "is not set; set it to the address of the issuer"
    if not provider.config.client_id:
        return "auth-provider.config.client-id", "is not set; set it to the name that the issuer knows the client by"
    return None
