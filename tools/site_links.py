"""A hook of mkdocs: links from the documentation to files outside of it lead to the repository's host.

From Markdown as people read it in the repository to Markdown that the site can serve.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_LINK = re.compile(r"\]\((\.\./[^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Return a page's text with links that the site can serve."""
    return with_links(markdown, page.file.src_uri, config["extra"]["repository"])


def with_links(markdown: str, page: str, repository: str) -> str:
    """Return a text with the links that leave the folder `docs` pointing into the repository."""
    folder = posixpath.dirname(posixpath.join("docs", page))

    def led(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match[1]))
        if path.startswith("docs/"):
            return match[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"]({repository}/{kind}/main/{path}{match[2] or ''})"

    return _LINK.sub(led, markdown)
