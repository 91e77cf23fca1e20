"""Write the pages."""

import sys
from pathlib import Path

from tools.reference.pages import PAGES

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, page in PAGES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page())
