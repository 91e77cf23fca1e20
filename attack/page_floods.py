"""Floods of the page's connections; its owner has to be answered meanwhile."""

from attack.attacks import attack
from attack.targets import Page


@attack(Page)
def silent_connections(page: Page) -> str:
    """Somebody holds 400 connections and says nothing."""
    with page.web.many(400) as held:
        page.serve_owner()
        return f"{len(held)} connections"


@attack(Page)
def pipelined_requests(page: Page) -> str:
    """Somebody holds 150 connections with 200 requests each, whose answers nobody reads."""
    data = f"GET / HTTP/1.1\r\nHost: {page.web.host}\r\n\r\n".encode() * 200
    with page.web.many(150, data) as held:
        page.serve_owner()
        return f"{len(held)} connections"


@attack(Page)
def endless_heads(page: Page) -> str:
    """Somebody begins 200 requests with 100 kB of headers each, and ends none."""
    data = f"GET / HTTP/1.1\r\nHost: {page.web.host}\r\nX: ".encode() + b"a" * 50_000 + b"\r\nY: " + b"a" * 50_000
    with page.web.many(200, data) as held:
        page.serve_owner()
        return f"{len(held)} connections"


@attack(Page)
def bodies_without_the_token(page: Page) -> str:
    """Somebody without the token sends 100 bodies of a gigabyte, which do not end."""
    head = f"POST /v1/scenario?name=a.yaml HTTP/1.1\r\nHost: {page.web.host}\r\nContent-Length: 1000000000\r\n\r\n"
    with page.web.many(100, head.encode() + b"x" * 500_000) as held:
        page.serve_owner()
        return f"{len(held)} connections"


@attack(Page)
def streams_that_nobody_reads(page: Page) -> str:
    """A tab of the owner follows changes on 60 connections and reads none."""
    head = (
        f"GET /v1/changes?since=0 HTTP/1.1\r\nHost: {page.web.host}\r\nAuthorization: Bearer {page.web.token}\r\n\r\n"
    )
    with page.web.many(60, head.encode()) as held:
        page.serve_owner()
        return f"{len(held)} connections"
