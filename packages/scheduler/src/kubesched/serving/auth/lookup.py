"""The cluster's client CAs, from the ConfigMap kube-system/extension-apiserver-authentication.

From its data to the CAs of client certificates and of front proxies. It is read at the start and every minute, more
often until it was read once; problems are logged, and the last good contents stay in use.
"""

# upstream: apiserver/pkg/server/options/authentication_dynamic_request_header.go,
# authentication/request/headerrequest/requestheader_controller.go (v1.36)

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from kubesched.common.notes import Note
from kubesched.errors import KubeschedError
from kubesched.serving.auth.client_certificates import Authorities
from kubesched.serving.auth.reviews import ApiClient
from kubesched.serving.options import ServingError

NAME = "extension-apiserver-authentication"
NAMESPACE = "kube-system"
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{NAME}"
READER = "extension-apiserver-authentication-reader"
LOOK_EVERY_SECONDS = 60.0
FIRST_RETRY_SECONDS = 1.0
LOOKUP_SECONDS = 10.0

Meaning = TypeVar("Meaning")


class FrontProxy(msgspec.Struct, frozen=True):
    """Trusted front proxies: their CAs, their names, and the headers with the user."""

    authorities: Authorities
    allowed_names: Sequence[str]
    username_headers: Sequence[str]
    uid_headers: Sequence[str]
    group_headers: Sequence[str]
    extra_prefixes: Sequence[str]


class _ConfigMap(msgspec.Struct):
    data: Mapping[str, str] | None = None


class Lookup:
    """The last good contents of the ConfigMap."""

    def __init__(self, client: ApiClient, note: Note) -> None:
        self._client = client
        self._note = note
        self._data: Mapping[str, str] = {}
        self._said = ""
        self.client_authorities: Authorities | None = None
        self.front_proxy: FrontProxy | None = None

    async def run(self) -> None:
        """Read the ConfigMap periodically until cancelled."""
        retry = FIRST_RETRY_SECONDS
        while True:
            try:
                await self.read()
                pause, retry = LOOK_EVERY_SECONDS, FIRST_RETRY_SECONDS
            except ServingError as error:
                self._say(
                    f"Error looking up in-cluster authentication configuration: {error}. Until it is found, "
                    "client certificates and request headers are not believed beyond what was known before"
                )
                pause, retry = retry, min(2 * retry, LOOK_EVERY_SECONDS)
            await asyncio.sleep(pause)

    async def read(self) -> None:
        """Read the ConfigMap; raises ServingError if that fails. A ConfigMap that does not exist is no error."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                body = await self._client.send("GET", PATH)
            data = msgspec.json.decode(body, type=_ConfigMap).data or {}
        except TimeoutError:
            raise ServingError(f"configmap {NAMESPACE}/{NAME}: no answer within {LOOKUP_SECONDS:g} seconds") from None
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise ServingError(f"configmap {NAMESPACE}/{NAME}: the answer is no ConfigMap") from None
        except KubeschedError as error:
            code = getattr(error, "code", 0)
            if code == 404:
                return
            hint = f" (bind the role {READER} in {NAMESPACE} to this user)" if code == 403 else ""
            raise ServingError(f"configmap {NAMESPACE}/{NAME}: {error}{hint}") from None
        self._said = ""
        if data != self._data:
            self._data = data
            self._take(data)

    def _take(self, data: Mapping[str, str]) -> None:
        if data.get("client-ca-file"):
            self.client_authorities = self._usable(_client_authorities, data) or self.client_authorities
        if data.get("requestheader-client-ca-file"):
            self.front_proxy = self._usable(_front_proxy, data) or self.front_proxy

    def _usable(self, parse: Callable[[Mapping[str, str]], Meaning], data: Mapping[str, str]) -> Meaning | None:
        try:
            return parse(data)
        except ServingError as error:
            self._say(f"{error}; the last valid version is used")
            return None

    def _say(self, line: str) -> None:
        if line != self._said:
            self._said = line
            self._note(line)


def _where(key: str) -> str:
    return f"configmap {NAMESPACE}/{NAME}, {key}"


def _client_authorities(data: Mapping[str, str]) -> Authorities:
    return Authorities(data["client-ca-file"].encode(), _where("client-ca-file"))


def _front_proxy(data: Mapping[str, str]) -> FrontProxy:
    key = "requestheader-client-ca-file"
    return FrontProxy(
        Authorities(data[key].encode(), _where(key)),
        *(
            _texts(data, f"requestheader-{field}")
            for field in ("allowed-names", "username-headers", "uid-headers", "group-headers", "extra-headers-prefix")
        ),
    )


def _texts(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    """Return a list of texts from a JSON value of the data."""
    text = data.get(key)
    if not text:
        return ()
    try:
        return msgspec.json.decode(text, type=tuple[str, ...])
    except msgspec.MsgspecError:
        raise ServingError(f"{_where(key)}: expected a list of texts in JSON") from None
