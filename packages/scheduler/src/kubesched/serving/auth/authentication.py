"""Authentication of requests: by a front proxy's headers, a client certificate, a bearer token, or as anonymous.

    certificate + headers ──▶ proxy's headers ──▶ client certificate ──▶ token ──▶ anonymous
                                    │ bad              │ bad             │ bad
                                    └──────────────────┴─────────────────┴──▶ 401, unless another one is good

A request with bad credentials is never anonymous. If no authenticator is configured, every request is.
"""

# upstream: apiserver/pkg/authentication/authenticatorfactory/delegating.go,
# authentication/request/{headerrequest,union,anonymous}, authentication/token/cache (v1.36)

import hmac
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote

from cryptography import x509
from msgspec.structs import replace
from multidict import CIMultiDictProxy

from kubesched.common.notes import Clock, Note
from kubesched.errors import KubeschedError
from kubesched.serving.auth.answer_cache import AnswerCache
from kubesched.serving.auth.client_certificates import Authorities, BadCredentialsError, Chain, common_name, user_of
from kubesched.serving.auth.lookup import FrontProxy, Lookup
from kubesched.serving.auth.reviews import ApiClient, review_token
from kubesched.serving.options import ServingOptions
from kubesched.serving.requests import UserInfo
from kubesched.serving.tls.watched_files import WatchedFiles

ANONYMOUS = UserInfo("system:anonymous", ("system:unauthenticated",))
_TELLING_GROUPS = {"system:authenticated", "system:unauthenticated"}
# tokens whose users are cached
MOST_TOKENS = 8192

Headers = CIMultiDictProxy[str]


class UnauthenticatedError(Exception):
    """Bad credentials; the text is for the log only."""


class Authentication:
    """Authenticates requests; `client` sends TokenReviews and looks up the cluster's client CAs."""

    def __init__(
        self, options: ServingOptions, client: ApiClient | None, note: Note, clock: Clock = time.monotonic
    ) -> None:
        self._client = client
        self._tolerant = options.authentication_tolerate_lookup_failure
        seconds = options.authentication_token_webhook_cache_ttl
        self._owners = AnswerCache[UserInfo | None](MOST_TOKENS, lambda owner: seconds, clock)
        # tokens are not kept: the cache's keys are keyed digests of them
        self._secret = secrets.token_bytes(32)
        self._lookup = _lookup(options, client, note)
        self._client_authorities = _client_authorities(options, self._lookup, note, clock)
        self._front_proxy = _front_proxy(options, self._lookup, note, clock)
        self._shown: tuple[tuple[Authorities | None, ...], tuple[x509.Certificate, ...]] = ((), ())

    def authorities(self) -> Sequence[x509.Certificate] | None:
        """Return the CAs of client certificates, None if none are configured; the same value until they change."""
        if self._client_authorities is None and self._front_proxy is None:
            return None
        proxy = self._front_proxy() if self._front_proxy else None
        found = (
            self._client_authorities() if self._client_authorities else None,
            proxy.authorities if proxy is not None else None,
        )
        if found != self._shown[0]:
            self._shown = found, tuple(each for bundle in found if bundle for each in bundle.certificates)
        return self._shown[1]

    async def begin(self) -> None:
        """Look up the client CAs in the cluster, unless failures are tolerated; ServingError if that fails."""
        if self._lookup is not None and not self._tolerant:
            await self._lookup.read()

    async def run(self) -> None:
        """Keep the client CAs of the cluster up to date."""
        if self._lookup is not None:
            await self._lookup.run()

    async def close(self) -> None:
        """Close the connections to the API server."""
        if self._client is not None:
            await self._client.close()

    async def authenticate(self, headers: Headers, chain: Chain) -> UserInfo:
        """Return the user of a request; UnauthenticatedError for bad credentials."""
        problems = []
        for find in (self._by_proxy, self._by_certificate):
            try:
                user = find(headers, chain)
            except BadCredentialsError as error:
                problems.append(str(error))
                continue
            if user is not None:
                return _authenticated(user)
        try:
            user = await self._by_token(headers)
        except (BadCredentialsError, KubeschedError) as error:
            problems.append(str(error))
        else:
            if user is not None:
                return _authenticated(user)
        if problems:
            raise UnauthenticatedError("; ".join(problems))
        return ANONYMOUS

    def _by_proxy(self, headers: Headers, chain: Chain) -> UserInfo | None:
        proxy = self._front_proxy() if self._front_proxy else None
        if proxy is None or not chain:
            return None
        proxy.authorities.check(chain)
        name = common_name(chain[0])
        if proxy.allowed_names and name not in proxy.allowed_names:
            raise BadCredentialsError(f"the common name {name} is not among the allowed names of proxies")
        return _user_in(headers, proxy)

    def _by_certificate(self, headers: Headers, chain: Chain) -> UserInfo | None:
        authorities = self._client_authorities() if self._client_authorities else None
        if authorities is None or not chain:
            return None
        authorities.check(chain)
        return user_of(chain[0])

    async def _by_token(self, headers: Headers) -> UserInfo | None:
        client, token = self._client, bearer_token(headers)
        if client is None or not token:
            return None
        digest = hmac.digest(self._secret, token.encode("utf-8", "surrogatepass"), "sha256")
        owner = await self._owners.get(digest, lambda: review_token(client, token))
        if owner is None:
            raise BadCredentialsError("invalid bearer token")
        return owner


def bearer_token(headers: Headers) -> str:
    """Return the bearer token of a request, or an empty text."""
    scheme, _, rest = headers.get("Authorization", "").strip().partition(" ")
    return rest.partition(" ")[0] if scheme.lower() == "bearer" else ""


def _authenticated(user: UserInfo) -> UserInfo:
    """Return the user as a member of system:authenticated."""
    if user.name == ANONYMOUS.name or not _TELLING_GROUPS.isdisjoint(user.groups):
        return user
    return replace(user, groups=(*user.groups, "system:authenticated"))


def _user_in(headers: Headers, proxy: FrontProxy) -> UserInfo | None:
    """Return the user that a proxy names in its headers."""
    name = _first(headers, proxy.username_headers)
    if not name:
        return None
    groups = tuple(value for header in proxy.group_headers for value in headers.getall(header, ()) if value)
    return UserInfo(name, groups, _first(headers, proxy.uid_headers), _extra(headers, proxy.extra_prefixes))


def _first(headers: Headers, names: Sequence[str]) -> str:
    return next((value for name in names if (value := headers.get(name, ""))), "")


def _extra(headers: Headers, prefixes: Sequence[str]) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for prefix in map(str.lower, prefixes):
        for name, value in headers.items():
            if name.lower().startswith(prefix):
                found.setdefault(unquote(name.lower()[len(prefix) :]), []).append(value)
    return found


def _lookup(options: ServingOptions, client: ApiClient | None, note: Note) -> Lookup | None:
    """Return the lookup of the client CAs that no file gives; None if there is nothing to look up."""
    files = (options.client_ca_file, options.requestheader_client_ca_file)
    if options.authentication_skip_lookup or all(files):
        return None
    if client is not None:
        return Lookup(client, note)
    for file, what in zip(files, ("client certificates", "request headers of proxies"), strict=True):
        if not file:
            note(
                "No authentication-kubeconfig provided in order to look up authorities in configmap/"
                f"extension-apiserver-authentication in kube-system, so {what} are not believed."
            )
    return None


def _client_authorities(
    options: ServingOptions, lookup: Lookup | None, note: Note, clock: Clock
) -> Callable[[], Authorities | None] | None:
    path = options.client_ca_file
    if path:
        return WatchedFiles((path,), lambda pem: Authorities(pem, f"--client-ca-file {path}"), note, clock).current
    return (lambda: lookup.client_authorities) if lookup is not None else None


def _front_proxy(
    options: ServingOptions, lookup: Lookup | None, note: Note, clock: Clock
) -> Callable[[], FrontProxy | None] | None:
    path = options.requestheader_client_ca_file

    def parse(pem: bytes) -> FrontProxy:
        return FrontProxy(
            Authorities(pem, f"--requestheader-client-ca-file {path}"),
            options.requestheader_allowed_names,
            options.requestheader_username_headers,
            options.requestheader_uid_headers,
            options.requestheader_group_headers,
            options.requestheader_extra_headers_prefix,
        )

    if path:
        return WatchedFiles((path,), parse, note, clock).current
    return (lambda: lookup.front_proxy) if lookup is not None else None
