"""Draw the layers of import-linter's contracts: `python -m tools.layers docs/internals/architecture.md`.

The drawing stands between two comments, which stay where they are.
"""

import re
import sys
import tomllib
from pathlib import Path

CONTRACTS = Path(__file__).parents[1] / "pyproject.toml"
BEGIN, END = "<!-- layers: make docs -->\n", "<!-- end of layers -->\n"
_ROOT = "kubesched"
# the package itself, in its own contract
_LEFT_OUT = ("__main__",)
_WIDTH = 118


def drawing(contracts: str) -> str:
    """Return the layers of each contract, the upper ones first; `contracts` is the text of pyproject.toml."""
    found = []
    for contract in tomllib.loads(contracts)["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            # layers without a container are the distributions themselves
            name = contract.get("containers", ["distributions"])[0].removeprefix(f"{_ROOT}.")
            layers = " > ".join(layer for layer in contract["layers"] if layer not in _LEFT_OUT)
            found.append(_wrapped(f"{name}: ", layers))
    return "```\n" + "\n".join(found) + "\n```\n"


def _wrapped(head: str, layers: str) -> str:
    """Return a chain of layers in lines that are not too long, all but the first indented."""
    lines, line = [], head
    for part in re.findall(r"\S+(?: [|>] )?", layers):
        if len(line) + len(part.rstrip()) > _WIDTH:
            lines.append(line.rstrip())
            line = " " * len(head)
        line += part
    return "\n".join([*lines, line.rstrip()])


def drawn(text: str, contracts: str) -> str:
    """Return a document with the drawing as it has to be."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no place for the layers: {BEGIN.strip()} ... {END.strip()}")
    return f"{before}{begin}{drawing(contracts)}{end}{after}"


if __name__ == "__main__":
    document = Path(sys.argv[1])
    document.write_text(drawn(document.read_text(), CONTRACTS.read_text()))
