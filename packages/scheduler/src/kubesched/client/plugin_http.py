"""The HTTP client of plugins, and the scheduler's own client for the API server.

From `http.get(url)` to an answer that is bounded in size and time. Certificates are verified against the system's
authorities, unless a plugin asks not to. Redirects are followed within the URL's origin: headers may be credentials.
"""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import aiohttp
import msgspec
from yarl import URL

from kubesched.client.rest import Refused, Rest, Unreachable, read_at_most
from kubesched.config.redacting import without_password
from kubesched.core.framework.services.http_client import HttpAnswer, HttpError

LARGEST_ANSWER = 32 << 20
MOST_REDIRECTS = 3
REDIRECTS = frozenset((301, 302, 303, 307, 308))


class PluginHttp:
    """Sends the requests of plugins; a session is opened for each, so that nothing has to be closed at the end."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

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
        where = without_password(url)
        try:
            timeout = aiohttp.ClientTimeout(total=timeout_seconds)
            async with (
                aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
                asyncio.timeout(timeout_seconds),
            ):
                asked = URL(url)
                for _ in range(MOST_REDIRECTS + 1):
                    async with session.get(
                        asked, headers=headers, allow_redirects=False, ssl=not insecure_skip_verify
                    ) as response:
                        if response.status not in REDIRECTS or "Location" not in response.headers:
                            body = await read_at_most(response, LARGEST_ANSWER, "the answer")
                            return HttpAnswer(response.status, body, where)
                        asked = _redirected(asked, response.headers["Location"])
                raise HttpError(f"{where}: the server redirects more than {MOST_REDIRECTS} times")
        except TimeoutError:
            raise HttpError(f"{where}: no answer within {timeout_seconds:g} seconds") from None
        except (aiohttp.ClientError, ValueError, OSError) as error:
            raise HttpError(f"{where}: {str(error).replace(url, where) or type(error).__name__}") from None

    async def get_from_api_server(self, path: str) -> Any:
        """Return the JSON under a path of the API server, which may have a query; raises HttpError."""
        where, _, query = path.partition("?")
        try:
            return msgspec.json.decode(await self._rest.get(where, dict(parse_qsl(query)) if query else None))
        except (Refused, Unreachable, msgspec.DecodeError) as error:
            raise HttpError(f"{path}: {error}") from None


def _redirected(asked: URL, location: str) -> URL:
    """Return where a redirect leads; raises ValueError if that is another origin."""
    target = asked.join(URL(location))
    if (target.scheme, target.host, target.port) != (asked.scheme, asked.host, asked.port):
        origin = f"{target.scheme}://{target.host_port_subcomponent or ''}"
        raise ValueError(f"the server redirects to another origin, {origin}")
    # a redirect has no password of its own
    return target.with_user(asked.user).with_password(asked.password)
