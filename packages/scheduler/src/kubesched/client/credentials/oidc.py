"""Credentials from an OpenID Connect issuer: kubeconfig's auth-provider `oidc`.

From an ID token, or from a refresh token and the issuer that takes it, to a bearer token. New tokens are written back
to the kubeconfig, since an issuer may take each refresh token only once.
"""

# upstream: client-go/plugin/pkg/client/auth/oidc/oidc.go, golang.org/x/oauth2 (v1.36)

import base64
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from binascii import Error as Base64Error
from collections.abc import Callable
from http.client import HTTPException, HTTPMessage
from typing import IO

import msgspec

from kubesched.api import tolerant_json
from kubesched.client.credentials.sources import CredentialsError, Proof, Secret, bearer
from kubesched.common.notes import Clock, Note
from kubesched.errors import InvalidObjectError

# a token is renewed this long before it expires
EARLY_SECONDS = 10.0
ANSWER_SECONDS = 30.0
LARGEST_ANSWER = 1 << 20
LONGEST_EXCUSE = 200


class OidcConfig(Secret, frozen=True, rename="kebab"):
    """users[].user.auth-provider.config of a kubeconfig."""

    idp_issuer_url: str = ""
    client_id: str = ""
    client_secret: str = ""
    idp_certificate_authority: str = ""
    idp_certificate_authority_data: str = ""
    id_token: str = ""
    refresh_token: str = ""


class OidcTokens(Secret, frozen=True):
    """The tokens that an issuer returns for a refresh token."""

    id_token: str = ""
    refresh_token: str = ""


class _Discovery(msgspec.Struct):
    token_endpoint: str = ""


class _Refusal(msgspec.Struct):
    error: str = ""
    error_description: str = ""


class _Claims(msgspec.Struct):
    exp: float = 0.0


class RefusedByIssuerError(CredentialsError):
    """The issuer refused the request."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects; credentials are sent to the original server only."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        """Return the redirected request, without credentials if it leads to another server."""
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and _origin(request.full_url) != _origin(req.full_url):
            request.remove_header("Authorization")
        return request


def _origin(url: str) -> tuple[str, str]:
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2]


class OidcProvider:
    """Gives ID tokens, and refreshes them when they expire; `keep` stores new tokens beyond the process."""

    def __init__(
        self,
        config: OidcConfig,
        where: str,
        tls: ssl.SSLContext | None,
        *,
        keep: Callable[[OidcTokens], None] = lambda tokens: None,
        note: Note = lambda line: None,
        now: Clock = time.time,
    ) -> None:
        self._config = config
        self._where = where
        self._keep = keep
        self._note = note
        self._now = now
        self._tokens = OidcTokens(config.id_token, config.refresh_token)
        self._expires = self._expiry(config.id_token) if config.id_token else 0.0
        handlers: list[urllib.request.BaseHandler] = [_Redirects()]
        if tls is not None:
            handlers.append(urllib.request.HTTPSHandler(context=tls))
        self._opener = urllib.request.build_opener(*handlers)

    def due(self) -> bool:
        """Return whether the ID token has expired, or is about to."""
        return self._now() + EARLY_SECONDS >= self._expires

    def read(self, *, rejected: bool) -> Proof:
        """Return the ID token; a new one if it has expired, or was rejected and can be renewed."""
        if self.due() or (rejected and self._tokens.refresh_token):
            self._renew()
        return Proof(authorization=bearer(self._tokens.id_token, self._where))

    def _renew(self) -> None:
        if not self._tokens.refresh_token:
            raise self._error("id-token has expired, and there is no refresh-token to renew it with; log in again")
        tokens = self._asked(self._token_endpoint())
        if not tokens.id_token:
            raise self._error(
                f"{self._config.idp_issuer_url} gave no id_token for the refresh-token; "
                'log in with the scope "openid", or use an issuer that renews ID tokens'
            )
        self._expires = self._expiry(tokens.id_token)
        self._tokens = OidcTokens(tokens.id_token, tokens.refresh_token or self._tokens.refresh_token)
        try:
            self._keep(self._tokens)
        except OSError as error:
            # differs (D-064): the reference fails here, although it has a token
            self._note(f"{self._where}: the new tokens cannot be written to the kubeconfig: {error.strerror}")

    def _token_endpoint(self) -> str:
        """Return the URL of the issuer's token endpoint, from its discovery document."""
        url = self._config.idp_issuer_url.removesuffix("/") + "/.well-known/openid-configuration"
        body = self._fetch(urllib.request.Request(url))
        try:
            endpoint = tolerant_json.decode(body, _Discovery).token_endpoint
        except InvalidObjectError:
            endpoint = ""
        if not endpoint.startswith(("https://", "http://")):
            raise self._error(f"{url} names no token_endpoint; check idp-issuer-url")
        return endpoint

    def _asked(self, endpoint: str) -> OidcTokens:
        """Return the issuer's tokens for the refresh token; client credentials go in a header, or else in the form."""
        config = self._config
        form = {"grant_type": "refresh_token", "refresh_token": self._tokens.refresh_token}
        pair = f"{urllib.parse.quote_plus(config.client_id)}:{urllib.parse.quote_plus(config.client_secret)}"
        header = {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode("ascii")}
        try:
            body = self._post(endpoint, form, header)
        except RefusedByIssuerError:
            form["client_id"] = config.client_id
            if config.client_secret:
                form["client_secret"] = config.client_secret
            body = self._post(endpoint, form, {})
        try:
            return tolerant_json.decode(body, OidcTokens)
        except InvalidObjectError:
            raise self._error(f"{endpoint} answered with something else than tokens; check idp-issuer-url") from None

    def _post(self, url: str, form: dict[str, str], headers: dict[str, str]) -> bytes:
        body = urllib.parse.urlencode(form).encode()
        return self._fetch(urllib.request.Request(url, data=body, headers=headers, method="POST"))

    def _fetch(self, request: urllib.request.Request) -> bytes:
        try:
            with self._opener.open(request, timeout=ANSWER_SECONDS) as response:
                body: bytes = response.read(LARGEST_ANSWER)
                return body
        except urllib.error.HTTPError as error:
            with error:
                excuse = _excuse(error.read(LARGEST_ANSWER))
            sentence = f"{self._where}: {request.full_url} answered with code {error.code}{excuse}"
            raise RefusedByIssuerError(sentence) from None
        except (OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise self._error(f"{request.full_url} cannot be reached: {reason}") from None

    def _expiry(self, token: str) -> float:
        """Return when an ID token expires; only the API server verifies the token."""
        parts = token.split(".")
        try:
            payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
            return tolerant_json.decode(payload, _Claims).exp
        except (IndexError, Base64Error, ValueError, InvalidObjectError):
            raise self._error("the ID token is no JSON Web Token; log in again") from None

    def _error(self, sentence: str) -> CredentialsError:
        return CredentialsError(f"{self._where}: {sentence}")


def _excuse(body: bytes) -> str:
    """Return the error and its description in an issuer's response, if it is OAuth's."""
    try:
        refusal = tolerant_json.decode(body, _Refusal)
    except InvalidObjectError:
        return ""
    text = " ".join(f"{refusal.error}: {refusal.error_description}".strip(": ").split())
    return f" ({text[:LONGEST_EXCUSE]})" if text else ""
