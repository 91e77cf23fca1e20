"""Write the pages."""

import sys
from pathlib import Path

from tools.reference.pages import pages

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)
