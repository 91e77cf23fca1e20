"""Streams of the REST client: one that is left has no connection left, whatever the server does."""

import asyncio
import gc
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubesched.client.rest import RestClient, RestConfig
from kubesched.common.server_trust import trusting_context

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@contextmanager
def silent_server(context: ssl.SSLContext) -> Iterator[int]:
    """Run a server that begins to answer and then neither reads nor says goodbye; give its port."""
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        plain, _ = listening.accept()
        with context.wrap_socket(plain, server_side=True) as connection:
            connection.recv(65536)
            connection.sendall(HEAD + b"4\r\n{}\n\n\r\n")
            over.wait()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=[listening])
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            over.set()
            thread.join()


def test_a_stream_that_is_left_leaves_no_connection(authority: Any, tmp_path: Path) -> None:
    async def no_headers() -> dict[str, str]:
        return {}

    async def story(port: int) -> bytes:
        trusting = trusting_context(ca_data=authority.certificate.decode())
        client = RestClient(RestConfig(f"https://127.0.0.1:{port}", no_headers, trusting), "test")
        try:
            async with client.stream("/api/v1/pods", {"watch": "true"}) as stream:
                return await stream.readany()
        finally:
            await client.close()

    with silent_server(authority.serving(tmp_path, "127.0.0.1")) as port:
        assert asyncio.run(story(port)) == b"{}\n\n"
    # a transport that outlives its event loop is a warning, which is an error here
    gc.collect()
