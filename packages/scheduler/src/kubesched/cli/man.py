"""`kubesched man`: manual pages of all commands.

In: a folder of manual pages. Out: files in its section 1, where `man` finds them.
"""

from pathlib import Path

import click

from kubesched.cli.folder_path import FolderPath
from kubesched.cli.migrate import UnwritableError

HELP = """Write the manual pages of all commands into DIR/man1.

They have the text of --help. Existing pages of the same names are replaced. man searches ~/.local/share/man if
~/.local/bin is on PATH; set MANPATH for other folders.

\b
Example:
  kubesched man ~/.local/share/man
  man kubesched-up
"""


@click.command("man", help=HELP, short_help="Write manual pages of all commands into a folder.")
@click.argument("folder", metavar="DIR", type=FolderPath())
def man(folder: Path) -> None:
    """Write the manual pages."""
    # this imports all commands
    from kubesched.cli.manual import SECTION, pages

    target = folder / f"man{SECTION}"
    written = pages()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            (target / name).write_text(text, "utf-8")
    except OSError as error:
        where, reason = error.filename or target, (error.strerror or str(error)).lower()
        raise UnwritableError(f"{where}: {reason}; give a writable folder") from None
    click.echo(f"{len(written)} manual pages written to {target}; to let man find them, set MANPATH={folder}:")
