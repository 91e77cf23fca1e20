"""Lists read in pages.

From the path of a resource to the items of all its objects, as they arrive. A list whose continue token expires is read
again without pages.
"""

# upstream: client-go/tools/pager/pager.go (v1.36)

from collections.abc import Awaitable, Callable

from kubesched.client.informers.pager import ListMeta, ListReader
from kubesched.client.rest import Query, Refused, Rest, Unreachable
from kubesched.errors import InvalidObjectError

PAGE = 500


async def read_pages(
    rest: Rest,
    path: str,
    query: Query,
    take: Callable[[list[bytes]], Awaitable[None]],
    begin: Callable[[], None],
    *,
    version: str | None = None,
) -> ListMeta:
    """Give all items of a list to `take`; return the metadata of the last page. Raises Refused and Unreachable.

    `begin` is called if the list begins again: items that were given before do not count. With a version the first page
    may come from the server's cache.
    """
    asked = {**query, "limit": str(PAGE), **({"resourceVersion": version} if version is not None else {})}
    while True:
        try:
            meta = await _page(rest, path, asked, take)
        except InvalidObjectError as error:
            raise Unreachable(f"the answer is no list: {error}", maybe_done=False) from None
        except Refused as refused:
            if refused.code == 410 and "continue" in asked:
                # the continue token has expired: list without pages
                asked = dict(query)
                begin()
                continue
            raise
        if not meta.more:
            return meta
        asked = {**query, "limit": str(PAGE), "continue": meta.more}


async def _page(rest: Rest, path: str, query: Query, take: Callable[[list[bytes]], Awaitable[None]]) -> ListMeta:
    """Read a page, or a whole list; return its metadata."""
    reader = ListReader()
    async with rest.stream(path, query) as stream:
        async for piece in stream.iter_any():
            await take(reader.feed(piece))
    items, meta = reader.end()
    await take(items)
    return meta
