"""The flags of the groups secure serving, authentication and authorization.

From parsed flags to one value, and to one sentence with all problems. The files that flags name are read later.
"""

# upstream: apiserver/pkg/server/options/{serving,authentication,authorization}.go (v1.36)

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

import msgspec

from kubesched.errors import KubeschedError

# the certificate and key in --cert-dir
PAIR_NAME = "kube-scheduler"
LARGEST_PORT = 65535


class ServingError(KubeschedError):
    """Serving is not possible as it is configured."""


class ServingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of serving, authentication and authorization; each field is the flag of that name."""

    bind_address: str = "0.0.0.0"
    secure_port: int = 10259
    permit_address_sharing: bool = False
    permit_port_sharing: bool = False
    cert_dir: str = ""
    tls_cert_file: str = ""
    tls_private_key_file: str = ""
    tls_sni_cert_key: tuple[str, ...] = ()
    tls_min_version: str = ""
    tls_cipher_suites: tuple[str, ...] = ()

    authentication_skip_lookup: bool = False
    authentication_tolerate_lookup_failure: bool = True
    authentication_token_webhook_cache_ttl: float = 10.0
    client_ca_file: str = ""
    requestheader_client_ca_file: str = ""
    requestheader_allowed_names: tuple[str, ...] = ()
    requestheader_username_headers: tuple[str, ...] = ("x-remote-user",)
    requestheader_uid_headers: tuple[str, ...] = ()
    requestheader_group_headers: tuple[str, ...] = ("x-remote-group",)
    requestheader_extra_headers_prefix: tuple[str, ...] = ("x-remote-extra-",)

    authorization_always_allow_paths: tuple[str, ...] = ("/healthz", "/readyz", "/livez")
    authorization_webhook_cache_authorized_ttl: float = 10.0
    authorization_webhook_cache_unauthorized_ttl: float = 10.0

    def checked(self) -> "ServingOptions":
        """Return the options themselves; raises ServingError that names every invalid one."""
        problems = [*_address_problems(self), *_pair_problems(self), *_header_problems(self), *_path_problems(self)]
        if problems:
            raise ServingError("; ".join(problems))
        return self


def options_from(flags: Mapping[str, Any]) -> ServingOptions:
    """Return the options of flags by name; missing ones have their defaults."""
    given: dict[str, Any] = {}
    for field in ServingOptions.__struct_fields__:
        value = flags.get(field.replace("_", "-"))
        if value is None:
            continue
        # lists of texts, and durations that count their seconds
        given[field] = tuple(value) if isinstance(value, list) else getattr(value, "seconds", value)
    return ServingOptions(**given).checked()


class NamedPair(msgspec.Struct, frozen=True):
    """A certificate file, its key file and their host names; without any, the names in the certificate count."""

    certificate: str
    key: str
    names: tuple[str, ...]


def named_pair(text: str) -> NamedPair:
    """Return the pair of a value of --tls-sni-cert-key."""
    files, colon, names = (part.strip() for part in text.partition(":"))
    if colon and not names:
        raise ServingError(f"--tls-sni-cert-key {text}: names are expected after the colon")
    certificate, _, key = (file.strip() for file in files.partition(","))
    if not (certificate and key) or "," in key:
        raise ServingError(f"--tls-sni-cert-key {text}: expected a certificate file, a comma and a key file")
    return NamedPair(certificate, key, tuple(name.strip() for name in names.split(",")) if colon else ())


def _address_problems(options: ServingOptions) -> list[str]:
    problems = []
    try:
        ip_address(options.bind_address or "0.0.0.0")
    except ValueError:
        problems.append(f"--bind-address {options.bind_address} is no IP address")
    if not 0 <= options.secure_port <= LARGEST_PORT:
        problems.append(
            f"--secure-port {options.secure_port} must be between 0 and {LARGEST_PORT}, inclusive. "
            "0 for turning off secure port"
        )
    return problems


def _pair_problems(options: ServingOptions) -> list[str]:
    problems = []
    if bool(options.tls_cert_file) != bool(options.tls_private_key_file):
        problems.append("--tls-cert-file and --tls-private-key-file must be given together")
    for text in options.tls_sni_cert_key:
        try:
            named_pair(text)
        except ServingError as error:
            problems.append(str(error))
    return problems


def _header_problems(options: ServingOptions) -> list[str]:
    problems = []
    for field in ("username_headers", "uid_headers", "group_headers", "extra_headers_prefix", "allowed_names"):
        flag = f"requestheader-{field.replace('_', '-')}"
        names: tuple[str, ...] = getattr(options, f"requestheader_{field}")
        if any(not name.strip() for name in names):
            problems.append(f"--{flag} has an empty value; leave it out")
    if options.requestheader_client_ca_file and not options.requestheader_username_headers:
        problems.append("--requestheader-client-ca-file needs --requestheader-username-headers")
    return problems


def _path_problems(options: ServingOptions) -> list[str]:
    return [
        f'--authorization-always-allow-paths: only trailing * allowed in "{path}"'
        for path in options.authorization_always_allow_paths
        if "*" in path[:-1]
    ]
