"""Admission webhooks on a real port over HTTPS, and configurations that lead there.

From replies per path to a server that a story asks through an API server.
"""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.certificates import make_tls

Document = dict[str, Any]
# from the request of a review to its response, or to a whole answer
Reply = Callable[[Document], Any]
GROUP = "/apis/admissionregistration.k8s.io/v1"


class WebhookService:
    """Answers reviews by their path."""

    def __init__(self, replies: Mapping[str, Reply]) -> None:
        self.replies = dict(replies)
        self.asked: list[tuple[str, Document]] = []
        self.url = ""
        self.bundle = ""
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        """Begin to answer on a free port."""
        tls = make_tls(["127.0.0.1"])
        self.bundle = b64encode(tls.authority).decode()
        app = web.Application()
        app.router.add_post("/{path}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=tls.context).start()
        self.url = f"https://127.0.0.1:{self._runner.addresses[0][1]}"

    async def close(self) -> None:
        """Refuse connections from now on."""
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path, review = request.match_info["path"], await request.json()
        self.asked.append((path, review["request"]))
        found = self.replies[path](review["request"])
        if isinstance(found, Awaitable):
            found = await found
        if isinstance(found, web.StreamResponse):
            return found
        response = {"uid": review["request"]["uid"], **found}
        return web.json_response({"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response})

    def hook(self, path: str, **more: Any) -> Document:
        """Return a webhook that leads to a path here, for all that is done to ConfigMaps unless told otherwise."""
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}
        return {
            "name": f"{path}.example.com",
            "clientConfig": {"url": f"{self.url}/{path}", "caBundle": self.bundle},
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }


def patching(*operations: Document) -> Document:
    """Return a response that changes an object."""
    patch = b64encode(msgspec.json.encode(list(operations))).decode()
    return {"allowed": True, "patch": patch, "patchType": "JSONPatch"}


class Story:
    """An API server and webhooks around it."""

    def __init__(self, service: WebhookService, server: ApiServer) -> None:
        self.service = service
        self.server = server

    async def raw(
        self, method: str, path: str, document: Any = None, form: str = "application/json", **query: str
    ) -> Response:
        """Return an answer."""
        body = b"" if document is None else msgspec.json.encode(document)
        options = {name: [value] for name, value in query.items()}
        found = await self.server.answer(Request(method, path, options, {"content-type": form}, body, ADMINISTRATOR))
        assert isinstance(found, Response)
        return found

    async def ask(self, method: str, path: str, document: Any = None, **more: Any) -> tuple[int, Document]:
        """Return the code and the document of an answer."""
        found = await self.raw(method, path, document, **more)
        return found.code, found.document()

    async def ok(self, method: str, path: str, document: Any = None, **more: Any) -> Document:
        """Return the document of an answer that must be a good one."""
        code, found = await self.ask(method, path, document, **more)
        assert code < 300, found
        return found

    async def configure(self, *hooks: Document, mutating: bool = False, name: str = "c") -> None:
        """Have webhooks asked."""
        plural = "mutatingwebhookconfigurations" if mutating else "validatingwebhookconfigurations"
        await self.ok("POST", f"{GROUP}/{plural}", {"metadata": {"name": name}, "webhooks": list(hooks)})


def play(replies: Mapping[str, Reply], story: Callable[[Story], Awaitable[None]], seconds: float = 20.0) -> None:
    """Tell a story with webhooks that reply."""

    async def told() -> None:
        service, server = WebhookService(replies), ApiServer(access=always_allow, seed=1)
        await service.open()
        try:
            found = Story(service, server)
            await found.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
            async with asyncio.timeout(seconds):
                await story(found)
        finally:
            await service.close()

    asyncio.run(told())
