"""Extenders over HTTP: sends their arguments, and returns their results or the error.

From argument values to JSON with the field names of the reference, one connection pool per extender, and back. An
extender's result is decoded (`extender_results`) and then validated in the core.
"""

# upstream: extender.go (v1.36)

import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import aiohttp
import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.client.credentials.tls import TlsError, load_identity
from kubesched.client.extender_results import (
    BindingResult,
    FilterResult,
    HostPriority,
    MetaVictims,
    PreemptionResult,
    read_result,
)
from kubesched.client.rest import check_encoding, read_at_most
from kubesched.common.server_trust import trusting_context
from kubesched.config.redacting import without_password
from kubesched.config.types import Extender, ExtenderTLSConfig
from kubesched.core.framework.values.effects import Bind
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.errors import InvalidObjectError, KubeschedError

# a result names each node of the arguments, so it grows with them; decoded, it may take twenty times the memory
SMALL_ANSWER = 8 << 20
TIMES_THE_QUESTION = 16
LARGEST_ANSWER = 256 << 20


class ExtenderError(KubeschedError):
    """A request to an extender failed."""


class HttpExtenderClient:
    """Connections to extenders; `node` returns the object of a node by name, for extenders that do not cache nodes."""

    def __init__(self, extenders: Sequence[Extender], node: Callable[[str], ApiObject | None]) -> None:
        self._node = node
        self._contexts = {_key(extender): tls_context(extender) for extender in extenders}
        self._sessions: dict[str, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        """Close all connections."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        """Call an extender and return its result; a failed call is a result with an error."""
        if isinstance(question, ExtenderFilterArgs):
            return await self._filter(question)
        if isinstance(question, ExtenderPreemptionArgs):
            return await self._preempt(question)
        try:
            arguments = self._arguments(question.extender, question.pod, question.node_names)
            scores = await self._send(
                question.extender, question.extender.prioritize_verb, arguments, list[HostPriority | None]
            )
        except ExtenderError as error:
            return ExtenderPrioritizeResult(error=str(error))
        entries = [entry or HostPriority() for entry in scores]
        return ExtenderPrioritizeResult(scores={entry.Host or "": entry.Score or 0 for entry in entries})

    async def bind(self, extender: Extender, bind: Bind) -> str:
        """Call an extender to bind a pod; return the error, or an empty text."""
        arguments = {
            "PodName": bind.name,
            "PodNamespace": bind.namespace,
            "PodUID": bind.uid,
            "Node": bind.node_name,
        }
        try:
            result = await self._send(extender, extender.bind_verb, arguments, BindingResult)
        except ExtenderError as error:
            return str(error)
        return str(result.Error or "")

    # -- questions

    async def _filter(self, question: ExtenderFilterArgs) -> ExtenderFilterResult:
        extender = question.extender
        try:
            arguments = self._arguments(extender, question.pod, question.node_names)
            result = await self._send(extender, extender.filter_verb, arguments, FilterResult)
        except ExtenderError as error:
            return ExtenderFilterResult(error=str(error))
        if result.Error:
            return ExtenderFilterResult(error=result.Error)
        names: Sequence[str] = ()
        if extender.node_cache_capable and result.NodeNames is not None:
            names = [name or "" for name in result.NodeNames]
        elif result.Nodes is not None:
            names = [item.name if item is not None else "" for item in result.Nodes.items or ()]
        return ExtenderFilterResult(names, _texts(result.FailedNodes), _texts(result.FailedAndUnresolvableNodes))

    async def _preempt(self, question: ExtenderPreemptionArgs) -> ExtenderPreemptionResult:
        extender = question.extender
        full: dict[str, Any] = {}
        meta: dict[str, Any] = {}
        for name, pods in question.victims.items():
            violations = question.violations.get(name, 0)
            if extender.node_cache_capable:
                meta[name] = {"Pods": [{"UID": pod.uid} for pod in pods], "NumPDBViolations": violations}
            else:
                full[name] = {"Pods": [to_builtins(pod) for pod in pods], "NumPDBViolations": violations}
        arguments = {
            "Pod": to_builtins(question.pod),
            "NodeNameToVictims": full or None,
            "NodeNameToMetaVictims": meta or None,
        }
        try:
            result = await self._send(extender, extender.preempt_verb, arguments, PreemptionResult)
        except ExtenderError as error:
            return ExtenderPreemptionResult(error=str(error))
        chosen = {name: victims or MetaVictims() for name, victims in (result.NodeNameToMetaVictims or {}).items()}
        return ExtenderPreemptionResult(
            {name: [(pod and pod.UID) or "" for pod in victims.Pods or ()] for name, victims in chosen.items()},
            {name: victims.NumPDBViolations or 0 for name, victims in chosen.items()},
        )

    def _arguments(self, extender: Extender, pod: ApiObject, names: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of a call: the pod, and its nodes; only their names if the extender caches nodes."""
        if extender.node_cache_capable:
            return {"Pod": to_builtins(pod), "Nodes": None, "NodeNames": list(names)}
        nodes = [to_builtins(node) for name in names if (node := self._node(name)) is not None]
        return {"Pod": to_builtins(pod), "Nodes": {"metadata": {}, "items": nodes}, "NodeNames": None}

    # -- the network

    async def _send(self, extender: Extender, verb: str, arguments: Mapping[str, Any], kind: type[Any]) -> Any:
        """Send a request and return the decoded result; raises ExtenderError with a sentence that names the address."""
        path = f"/{verb}"
        shown = extender.shown_url.rstrip("/") + path
        body = msgspec.json.encode(arguments)
        most = min(SMALL_ANSWER + TIMES_THE_QUESTION * len(body), LARGEST_ANSWER)
        try:
            async with self._session(extender).post(
                extender.url_prefix.rstrip("/") + path,
                data=body,
                headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
                timeout=aiohttp.ClientTimeout(total=extender.http_timeout.seconds or None),
                server_hostname=_server_name(extender),
            ) as response:
                if response.status != 200:
                    raise ExtenderError(f"failed {verb} with extender at URL {shown}, code {response.status}")
                check_encoding(response.headers.get("Content-Encoding"))
                answer = await read_at_most(response, most, "its answer")
        except TimeoutError:
            raise ExtenderError(f"extender at URL {shown} did not answer within {extender.http_timeout}") from None
        except (aiohttp.ClientError, OSError) as error:
            told = without_password(str(error))
            raise ExtenderError(f"extender at URL {shown} cannot be reached: {told}") from None
        try:
            return read_result(answer, kind)
        except InvalidObjectError as error:
            raise ExtenderError(f"extender at URL {shown} answered something else than {verb} needs: {error}") from None

    def _session(self, extender: Extender) -> aiohttp.ClientSession:
        """Return the connection pool of an extender."""
        key = _key(extender)
        session = self._sessions.get(key)
        if session is None:
            context = self._contexts.get(key)
            connector = aiohttp.TCPConnector(ssl=context) if context is not None else aiohttp.TCPConnector()
            session = self._sessions[key] = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        return session


def _texts(found: Mapping[str, str | None] | None) -> dict[str, str]:
    return {key: value or "" for key, value in (found or {}).items()}


def _key(extender: Extender) -> str:
    """Return the key of an extender."""
    return extender.url_prefix


def _server_name(extender: Extender) -> str | None:
    """Return the host name to verify the certificate against, if it is configured."""
    return (extender.tls_config.server_name or None) if extender.tls_config is not None else None


def tls_context(extender: Extender) -> ssl.SSLContext | None:
    """Return the TLS context for an extender, or None without TLS."""
    config = extender.tls_config
    if config is None and not extender.enable_https and not extender.url_prefix.startswith("https:"):
        return None
    config = config or ExtenderTLSConfig()
    try:
        # inline data wins over a file, and then the system's CAs are not trusted
        authorities = config.ca_data.decode() or None
        context = trusting_context(None if authorities else config.ca_file or None, authorities)
        if config.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        _load_identity(context, config)
    except (OSError, ssl.SSLError, TlsError, UnicodeDecodeError) as error:
        raise KubeschedError(f"extender {extender.shown_url}: its TLS settings cannot be used: {error}") from None
    return context


def _load_identity(context: ssl.SSLContext, config: ExtenderTLSConfig) -> None:
    """Load the client certificate, from files or from the configuration itself."""
    if config.cert_data and config.key_data:
        load_identity(context, config.cert_data, config.key_data)
    elif config.cert_file:
        context.load_cert_chain(config.cert_file, config.key_file or None)
