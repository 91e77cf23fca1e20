"""Requests to the page by somebody without its token, or by a page of another site."""

from attack.attacks import attack, expect
from attack.targets import Page

DATA = "/v1/cluster"


@attack(Page)
def forged_tokens(page: Page) -> str:
    """Somebody guesses, cuts and stretches the token: nothing is answered."""
    token = page.web.token
    forged = ("x", token[:-1], token + "x", token.upper(), "a" * 60_000)
    found = [page.web.ask("GET", DATA, token=each)[0] for each in forged]
    found.append(page.web.ask("GET", DATA, token="")[0])
    expect(set(found) <= {401, 431}, f"{found}")
    return f"{found}"


@attack(Page)
def foreign_hosts(page: Page) -> str:
    """A page of another site has its name lead to this machine: the name is refused, even with the token."""
    own = page.web.host
    names = (
        "evil.example.com",
        f"evil.example.com:{page.web.port}",
        f"{own}.evil.com",
        f"{own}@evil.com",
        "127.0.0.1",
        "",
    )
    found = [page.web.ask("GET", DATA, hosts=[name])[0] for name in names]
    found.append(page.web.ask("GET", DATA, hosts=["evil.com", own])[0])
    found.append(page.web.ask("GET", f"http://evil.com:{page.web.port}{DATA}", hosts=["evil.com"])[0])
    expect(200 not in found, f"{found}")
    return f"{found}"


@attack(Page)
def foreign_origins(page: Page) -> str:
    """A page of another site sends requests from the user's browser: they are refused."""
    origins = ("http://evil.com", "null", f"http://evil.com:{page.web.port}", f"http://{page.web.host}.evil.com")
    found = [page.web.ask("GET", DATA, headers={"Origin": each})[0] for each in origins]
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        asked = {"Content-Type": kind, "Origin": "http://evil.com"}
        found.append(page.web.ask("POST", "/v1/actions", b'{"do":"cordon","nodes":"n0"}', asked, token="")[0])
    expect(not set(found) & {200, 201, 500}, f"{found}")
    return f"{found}"


@attack(Page)
def tricks_with_paths(page: Page) -> str:
    """Somebody walks out of the folder of the page, and around the check of the token, by odd paths."""
    paths = (
        *(
            "/../../../etc/passwd",
            "/..%2f..%2fetc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "//etc/passwd",
            "/js/../../server.py",
        ),
        *("/js/%00main.js", "/js\\..\\server.py", "//v1/cluster", "/V1/cluster", "/v1%2fcluster", "/%76%31/cluster"),
        *("/js/../v1/cluster", "/v1/cluster/", "/v1;/cluster", "/x/../v1/cluster"),
    )
    for path in paths:
        status, body, _ = page.web.ask("GET", path, token="")
        is_page = isinstance(body, bytes) and body[:100].lower().lstrip().startswith(b"<!doctype")
        expect(status in (400, 401, 404) or (status == 200 and is_page), f"{path}: {status} {str(body)[:100]}")
    return f"{len(paths)} paths"


@attack(Page)
def malformed_requests(page: Page) -> str:
    """Somebody sends smuggled, doubled and broken requests: none is a fault of the page, and none is served."""
    host = page.web.host
    for what in (
        f"POST {DATA} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        f"POST /x HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        f"POST /x HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
        f"GET {DATA} HTTP/9.9\r\nHost: {host}\r\n\r\n",
        f"GET {DATA}\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "GET /" + "a" * 200_000 + " HTTP/1.1\r\n\r\n",
        f"GET {DATA} HTTP/1.1\r\n" + "".join(f"X-{number}: a\r\n" for number in range(5000)) + "\r\n",
    ):
        first = page.web.sent(what.encode("latin-1"), 2.0).partition(b"\r\n")[0]
        expect(b" 200 " not in first and b" 500 " not in first, f"{what[:40]!r}: {first!r}")
    return "refused or cut"


@attack(Page)
def what_a_browser_may_load(page: Page) -> str:
    """Somebody puts markup into the cluster: the policy of the page lets a browser run and load nothing of it."""
    status, _, headers = page.web.ask("GET", "/", token="")
    policy = headers.get("Content-Security-Policy", "")
    expect((status == 200 and "default-src 'none'" in policy) or "default-src 'self'" in policy, policy or "no policy")
    expect("unsafe" not in policy, policy)
    expect("Access-Control-Allow-Origin" not in headers, "other sites may read it")
    expect(headers.get("X-Content-Type-Options") == "nosniff", "a browser may guess types")
    return policy[:60]
