"""Reports as Markdown: each block, and texts that stay texts."""

import re

import pytest
from tests.support.reports import HOSTILE, every_block

from kubesched.reports.markdown import as_markdown


def test_every_block_is_shown() -> None:
    assert as_markdown(every_block(rows=5)) == WHOLE


WHOLE = """\
# Pod web

Pod web does not fit.

- web: 4 CPUs
- priority: web

## Why web

**web**

| NODES | REASON |
|---:|---|
| 0 | web 0 |
| 1 | web 1 |
| 2 | web 2 |

<details><summary>... and 2 more</summary>

| NODES | REASON |
|---:|---|
| 3 | web 3 |
| 4 | web 4 |

</details>

## Do

1. web
   - web
   - web

   ```console
   kubectl delete pod 'web'
   ```

**web**

- web: web
- memory: 2 of 4

```console
web
```

web

## More

| POD | NODES |
|---|---|
| web | web, n1 <details><summary>and 1 more</summary>n2</details> |
| web-2 | web |

<details><summary>web</summary>

web

| NODE |
|---|
| web |
| n2 |

</details>
"""


def outside_of_code(text: str) -> str:
    """Return Markdown without fenced code, and without what is escaped."""
    kept, fence = [], ""
    for line in text.splitlines():
        found = re.match(r"\s*(`{3,})(console)?$", line)
        if found and (not fence or found[1] == fence):
            fence = "" if fence else found[1]
        elif not fence:
            kept.append(re.sub(r"\\.", "", line))
    assert not fence, "a fence is left open"
    return "\n".join(kept)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_do_not_become_markup(name: str) -> None:
    found, plain = outside_of_code(as_markdown(every_block(name))), outside_of_code(as_markdown(every_block("web")))
    folds = r"</?(?:details|summary)>"
    assert re.findall(folds, found) == re.findall(folds, plain)
    for mark in ("<", "`", "_", "~~", "[", "](", "://", "www.", "\x1b", "\x9b", "\u202e", "\ud800"):
        assert mark not in re.sub(folds, "", found), mark
    # as many headings, entries, quotations and rows as with a tame name
    for begins in (r"^#+ ", r"^\s*- ", r"^\s*\d+\. ", r"^>", r"\|", r"\*\*"):
        assert len(re.findall(begins, found, re.MULTILINE)) == len(re.findall(begins, plain, re.MULTILINE)), begins
