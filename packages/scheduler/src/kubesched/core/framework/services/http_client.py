"""HTTP for plugins: one client for all of them.

From a plugin's constructor (parameter `http`) to servers outside. To be used in `background.every`, or in coroutine
hooks.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from kubesched.errors import KubeschedError


class HttpError(KubeschedError):
    """A request of a plugin got no usable answer; the message names the URL without its credentials."""


class HttpAnswer(msgspec.Struct, frozen=True):
    """A server's response."""

    status: int
    body: bytes
    url: str = ""

    def json(self) -> Any:
        """Return the body as JSON; raises HttpError if the server refused the request or the body is no JSON."""
        if not 200 <= self.status < 300:
            raise HttpError(f"{self.url}: the server answered with status {self.status}")
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise HttpError(f"{self.url}: the answer is not JSON: {error}") from None


class HttpClient(Protocol):
    """Sends requests."""

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 10.0,
        insecure_skip_verify: bool = False,
    ) -> HttpAnswer:
        """Return the server's response; raises HttpError if there is none.

        Certificates are verified, unless `insecure_skip_verify` is set.
        """

    async def get_from_api_server(self, path: str) -> Any:
        """Return the JSON under a path of the API server, such as `/apis/metrics.k8s.io/v1beta1/nodes`.

        The scheduler's own user asks. Raises HttpError.
        """


class NoHttp:
    """A client of engines without a loop: there is no network."""

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 10.0,
        insecure_skip_verify: bool = False,
    ) -> HttpAnswer:
        """Raise HttpError."""
        raise HttpError(f"{url}: there is no network here")

    async def get_from_api_server(self, path: str) -> Any:
        """Raise HttpError."""
        raise HttpError(f"{path}: there is no API server here")
