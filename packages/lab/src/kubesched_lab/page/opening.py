"""Opens the browser without the token among the arguments of a process, which all users of the machine can read.

From an address to a file with a link to it that only this user can read. The file is deleted when the page ends.
"""

import html
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LEADS_THERE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>kubesched</title>
<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">The page of kubesched</a></html>
"""


@contextmanager
def opened_in_browser(address: str) -> Iterator[None]:
    """Show an address in the user's browser for the duration of a block."""
    with tempfile.TemporaryDirectory(prefix="kubesched-page-") as folder:
        file = Path(folder) / "page.html"
        file.write_text(LEADS_THERE.format(address=html.escape(address)), encoding="utf-8")
        webbrowser.open(file.as_uri())
        yield
