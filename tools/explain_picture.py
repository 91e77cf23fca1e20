"""Draw what `kubesched explain` prints: `python -m tools.explain_picture docs/pictures/explain.svg`.

From a command's output with its colours to a picture that loads nothing from elsewhere.
"""

import os
import sys
from pathlib import Path

from click.testing import CliRunner
from rich.console import Console
from rich.text import Text

from kubesched.cli import main as kubesched

COMMAND = ("explain", "pod", "ml/train", "--from", "examples/asking/cluster.yaml")
WIDTH = 120
# what comes from this heading on is left out
END = "Preemption"
# rich's picture of a terminal, in the reader's own fonts
FORM = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect fill="#0f141b" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""  # noqa: E501


def picture() -> str:
    """Return the picture."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    done = CliRunner(env=environment).invoke(kubesched, COMMAND, color=True)
    console = Console(width=WIDTH, record=True, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115
    line = " ".join(("$ kubesched", *COMMAND))
    console.print(Text(line, "bold"), Text(), Text.from_ansi(_beginning(done.stdout)), sep="\n")
    return console.export_svg(code_format=FORM, unique_id="explain")


def _beginning(output: str) -> str:
    """Return an output up to the heading where the picture ends."""
    lines = output.splitlines()
    end = next(number for number, line in enumerate(lines) if Text.from_ansi(line).plain == END)
    return "\n".join(lines[:end]).rstrip()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture())
