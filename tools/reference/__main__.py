"""Write the pages."""

import sys
from pathlib import Path

from tools.reference.pages import PAGES

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page())
