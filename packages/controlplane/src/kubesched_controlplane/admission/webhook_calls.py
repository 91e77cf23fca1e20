"""Webhook calls over HTTPS: an AdmissionReview is posted, the webhook's AdmissionReview or an error comes back.

From calls to replies, each within its timeout. There is no service network here, so a webhook behind a service cannot
be reached.
"""

# upstream: apiserver/pkg/util/webhook/client.go, client-go/rest/request.go, Go's net/http and crypto/tls (v1.36)

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache

import aiohttp
import msgspec

from kubesched.api.go_text import quote
from kubesched.common.server_trust import trusting_context
from kubesched_controlplane.api.attempts import WebhookCall, WebhookReply
from kubesched_controlplane.storage.store import Store

LARGEST_REPLY = 3 * 1024 * 1024
_MOST_BUNDLES = 64
# calls webhooks; failed calls become replies with an error
Ask = Callable[[Sequence[WebhookCall]], Awaitable[Sequence[WebhookReply]]]


class WebhookCalls:
    """Calls webhooks over HTTPS, all at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def __call__(self, calls: Sequence[WebhookCall]) -> Sequence[WebhookReply]:
        """Return the replies to calls, in the order of the calls."""
        return await asyncio.gather(*(self._asked(each) for each in calls))

    async def _asked(self, call: WebhookCall) -> WebhookReply:
        if call.service:
            return WebhookReply(error=self._unreachable(call.service))
        try:
            async with asyncio.timeout(call.seconds):
                return await _posted(call)
        except TimeoutError:
            return WebhookReply(error="context deadline exceeded")
        except ssl.SSLError as error:
            return WebhookReply(error=_of_tls(error))
        except aiohttp.ClientConnectorCertificateError as error:
            return WebhookReply(error=_of_tls(error.certificate_error))
        except aiohttp.ClientConnectorError as error:
            return WebhookReply(error=_of_connection(error))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return WebhookReply(error=str(error) or type(error).__name__)

    def _unreachable(self, service: str) -> str:
        namespace, _, name = service.partition("/")
        if self._store.get("services", namespace, name) is None:
            return f"service {quote(name)} not found"
        return f"no endpoints available for service {quote(name)}"


async def _posted(call: WebhookCall) -> WebhookReply:
    headers = {"Content-Type": "application/json", "Accept": "application/json, */*"}
    trusted = _trusting(call.ca_bundle)
    connector = aiohttp.TCPConnector(ssl=trusted, force_close=True)
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.post(call.url, data=call.body, headers=headers, allow_redirects=False) as response,
    ):
        body = await response.content.read(LARGEST_REPLY + 1)
        while not response.content.at_eof() and len(body) <= LARGEST_REPLY:
            body += await response.content.read(LARGEST_REPLY + 1 - len(body))
    if len(body) > LARGEST_REPLY:
        return WebhookReply(error=f"the response is larger than {LARGEST_REPLY} bytes")
    if response.status == 404:
        return WebhookReply(error="the server could not find the requested resource")
    if response.status >= 400:
        text = quote(body[:2048].decode("utf-8", "replace").strip() or "unknown")
        return WebhookReply(error=f"an error on the server ({text}) has prevented the request from succeeding")
    try:
        return WebhookReply(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return WebhookReply(error=f"couldn't get version/kind; json parse error: {error}")


@lru_cache(maxsize=_MOST_BUNDLES)
def _trusting(bundle: bytes) -> ssl.SSLContext:
    """Return a context that trusts a caBundle or, if it is empty, the system; raises ValueError if it is malformed."""
    try:
        return trusting_context(ca_data=bundle.decode("ascii") if bundle else None)
    except (ssl.SSLError, UnicodeDecodeError):
        raise ValueError("unable to load root certificates: unable to parse bytes as PEM block") from None


def _of_tls(error: object) -> str:
    text = str(error)
    if "hostname mismatch" in text.lower() or "ip address mismatch" in text.lower():
        return f"tls: failed to verify certificate: x509: {text}"
    if "certificate verify failed" in text.lower():
        return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    return f"tls: {text}"


def _of_connection(error: aiohttp.ClientConnectorError) -> str:
    inner = error.os_error
    if isinstance(inner, ConnectionRefusedError):
        return f"dial tcp {error.host}:{error.port}: connect: connection refused"
    if isinstance(inner, ssl.SSLError):
        return _of_tls(inner)
    return f"dial tcp {error.host}:{error.port}: {inner.strerror or inner}"
