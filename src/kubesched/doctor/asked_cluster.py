"""A cluster as it is examined: documents by path, and what an identity may do.

From paths to plain documents, or why there is none. Nothing is written: access reviews are asked for and not stored.
"""

from typing import Any, NamedTuple

import msgspec

from kubesched.client.rest import Query, Refused, Rest

Document = dict[str, Any]
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
NOT_ALLOWED, NOT_SERVED = 403, 404
# of a list
MOST_ITEMS = 500


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
    """Why a document cannot be read."""

    code: int
    why: str


class AskedCluster:
    """Asks an API server."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    async def document(self, path: str, query: Query | None = None) -> Document | Absent:
        """Return a document, or why it cannot be read; raises Unreachable."""
        try:
            found = msgspec.json.decode(await self._rest.get(path, query))
        except Refused as refused:
            return Absent(refused.code, str(refused))
        except msgspec.MsgspecError as error:
            return Absent(0, f"the answer is no JSON: {error}")
        return found if isinstance(found, dict) else Absent(0, "the answer is no object")

    async def items(self, path: str, query: Query | None = None) -> list[Document] | Absent:
        """Return the objects of a list, page by page, or why it cannot be read; raises Unreachable."""
        items: list[Document] = []
        more = ""
        while True:
            page = {**(query or {}), "limit": str(MOST_ITEMS), **({"continue": more} if more else {})}
            found = await self.document(path, page)
            if isinstance(found, Absent):
                return found
            items += [each for each in found.get("items") or () if isinstance(each, dict)]
            more = str((found.get("metadata") or {}).get("continue") or "")
            if not more:
                return items

    async def may(self, right: Right) -> bool:
        """Return whether the identity of the requests may do something; raises Refused, Unreachable."""
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
        answer = msgspec.json.decode(await self._rest.send("POST", REVIEWS, msgspec.json.encode(body)))
        return bool((answer.get("status") or {}).get("allowed"))
