"""Responses for plugins that fetch over HTTP: the parameter `http` of a constructor, without a network.

From responses by URL, or by path of the API server, to the results of `background.every`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kubesched.core.framework.services.http_client import HttpAnswer, HttpError


class FakeHttp:
    """Answers requests from a table, which a test may change; `asked` are the URLs and paths, in order.

    A response is a document (sent as JSON), text or bytes, an HttpAnswer, or an exception, which is raised.
    """

    def __init__(self, answers: Mapping[str, Any] | Callable[[str], Any] | None = None) -> None:
        self.answers: dict[str, Any] | Callable[[str], Any]
        self.answers = answers if callable(answers) else dict(answers or {})
        self.asked: list[str] = []

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 10.0,
        insecure_skip_verify: bool = False,
    ) -> HttpAnswer:
        """Return the response for a URL; raises HttpError if there is none."""
        found = self._answer(url)
        if isinstance(found, HttpAnswer):
            return found
        if isinstance(found, str | bytes):
            return HttpAnswer(200, found.encode() if isinstance(found, str) else found, url)
        return HttpAnswer(200, msgspec.json.encode(found), url)

    async def get_from_api_server(self, path: str) -> Any:
        """Return the document for a path; raises HttpError if there is none."""
        return (await self.get(path)).json()

    def _answer(self, asked: str) -> Any:
        self.asked.append(asked)
        if callable(self.answers):
            found = self.answers(asked)
        elif asked in self.answers:
            found = self.answers[asked]
        else:
            raise HttpError(f"{asked}: the test has no response for it")
        if isinstance(found, BaseException):
            raise found
        return found
