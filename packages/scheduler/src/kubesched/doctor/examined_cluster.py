"""The examined cluster: documents by path, and the rights of an identity.

From paths to plain documents, or to the reason why one is missing. Nothing is written: access reviews are requests that
the API server does not store. Malformed answers and endless lists become a sentence.
"""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import msgspec

from kubesched.client.rest import Query, Refused, Rest

Document = dict[str, Any]
T = TypeVar("T")
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
NOT_ACCEPTED, NOT_ALLOWED, NOT_SERVED = 401, 403, 404
# limit of a page of a list
MOST_ITEMS = 500
# time limit for all pages of a list
LIST_SECONDS = 120.0
REVIEWS_AT_ONCE = 8
ASK_AGAIN = "try again when the API server is ready (kubectl get --raw /readyz)"


class Right(NamedTuple):
    """A verb on a resource of a group, such as `create` on `pods/binding` of the core group."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{f'.{self.group}' if self.group else ''}{where}"


class Absent(NamedTuple):
    """The reason why a document is not readable: the code of the refusal, 0 for a malformed answer."""

    code: int
    why: str

    def fix(self, of_rights: str) -> str:
        """Return the fix; `of_rights` if a right is missing."""
        return of_rights if self.code == NOT_ALLOWED else ASK_AGAIN


class _PageMeta(msgspec.Struct, rename={"more": "continue"}):
    more: str | None = None


class _Page(msgspec.Struct):
    items: list[Any] | None = None
    metadata: _PageMeta | None = None


class _ReviewStatus(msgspec.Struct):
    allowed: bool = False


class _Review(msgspec.Struct):
    status: _ReviewStatus


class ExaminedCluster:
    """Sends requests to an API server. Every method raises Unreachable, and Refused if the credentials are not
    accepted.
    """

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._turns = asyncio.Semaphore(REVIEWS_AT_ONCE)

    async def document(self, path: str, query: Query | None = None) -> Document | Absent:
        """Return a document, or the reason why it is not readable."""
        return await self._decoded(path, query, Document)

    async def items(self, path: str, query: Query | None = None) -> list[Document] | Absent:
        """Return the objects of a list, page by page, or the reason why it is not readable."""
        return await self.read_items(path, query, lambda document: document)

    async def read_items(self, path: str, query: Query | None, read: Callable[[Document], T]) -> list[T] | Absent:
        """Return the results of `read` for the objects of a list; the objects are not kept."""
        try:
            async with asyncio.timeout(LIST_SECONDS):
                return await self._pages(path, query or {}, read)
        except TimeoutError:
            return Absent(0, f"the list did not end within {LIST_SECONDS:.0f} s")

    async def _pages(self, path: str, query: Query, read: Callable[[Document], T]) -> list[T] | Absent:
        found: list[T] = []
        more = ""
        while True:
            position = {"continue": more} if more else {}
            page = await self._decoded(path, {**query, "limit": str(MOST_ITEMS), **position}, _Page)
            if isinstance(page, Absent):
                return page
            found += [read(each) for each in page.items or () if isinstance(each, dict)]
            last, more = more, (page.metadata.more if page.metadata is not None else "") or ""
            if not more:
                return found
            if more == last:
                return Absent(0, "the list does not end: each page is followed by the same page")

    async def _decoded(self, path: str, query: Query | None, form: type[T]) -> T | Absent:
        try:
            return msgspec.json.decode(await self._rest.get(path, query), type=form)
        except Refused as refused:
            if refused.code == NOT_ACCEPTED:
                raise
            return Absent(refused.code, str(refused))
        except (msgspec.MsgspecError, RecursionError) as error:
            return Absent(0, f"the answer does not have the form of an API server's: {error}")

    async def may(self, right: Right) -> bool:
        """Return whether the identity of the requests has a right; raises Refused for every refusal."""
        resource, _, subresource = right.resource.partition("/")
        attributes = {
            "verb": right.verb,
            "group": right.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": right.namespace,
            "name": right.name,
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {field: value for field, value in attributes.items() if value}},
        }
        async with self._turns:
            answer = await self._rest.send("POST", REVIEWS, msgspec.json.encode(body))
        try:
            return msgspec.json.decode(answer, type=_Review).status.allowed
        except (msgspec.MsgspecError, RecursionError) as error:
            raise Refused(0, "", f"the answer is not an access review: {error}") from None
