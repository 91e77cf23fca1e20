"""`python -m tools.upstream SRC`: compare kubesched's tables with those of Kubernetes, and renew what can be renewed.

SRC is a checkout of kubernetes, or a git directory of it together with `--to TAG`. The exit code is 1 if anything
differs.
"""

import argparse
import sys
from pathlib import Path

from tools.upstream import flags, gates, go_types, marks, metrics, openapi, protobuf, resources, roles
from tools.upstream.sources import Revision, Source, SourceError, open_source

PACKAGES = Path(__file__).parents[2] / "packages"


def main() -> int:
    """Run the command line."""
    options = _options()
    try:
        source = open_source(options.src, options.to)
        text = options.help_text.read_text() if options.help_text else ""
        failed = _compare(source, text, options.write)
        if options.older:
            if not isinstance(source, Revision):
                raise SourceError("--from needs --to, and a git directory")
            _print_marks(source, options.older)
    except (SourceError, OSError) as error:
        print(f"upstream: {error}", file=sys.stderr)
        return 2
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.upstream", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("src", type=Path, help="a checkout of kubernetes, or a git directory with --to")
    parser.add_argument("--to", default="", metavar="TAG", help="the revision to compare with")
    parser.add_argument("--from", dest="older", default="", metavar="TAG", help="list named files changed since then")
    parser.add_argument("--help-text", type=Path, metavar="FILE", help="what `kube-scheduler --help` prints")
    parser.add_argument("--write", action="store_true", help="renew feature gates and the types in schema/data")
    return parser.parse_args()


def _compare(source: Source, help_text: str, write: bool) -> bool:
    """Print all comparisons; return whether anything differs."""
    known_gates = flags.gates_of(help_text)
    types, changed = go_types.compare(source)
    sections = [
        types,
        openapi.compare(source),
        protobuf.compare(source),
        resources.compare(source),
        gates.compare(source, known_gates),
        gates.compare_dependencies(source),
        metrics.compare(source),
        roles.compare(source),
    ]
    if help_text:
        sections.append(flags.compare(help_text))
    for section in sections:
        print("\n".join(section.lines()))
    if write:
        gates.DATA.write_text(gates.regenerate(source))
        print(f"written: {gates.DATA.name}, {', '.join(go_types.write(changed)) or 'no types'}")
    return any(section.unknown for section in sections)


def our_marks() -> list[marks.Mark]:
    """Return the marks of all distributions."""
    return [mark for sources in sorted(PACKAGES.glob("*/src")) for mark in marks.marks_in(sources)]


def _print_marks(source: Revision, older: str) -> None:
    found = marks.changed(our_marks(), source, older)
    print(f"== files that our comments name, changed from {older} to {source.name}: {len(found)}")
    for path, places in found.items():
        print(f"   {path}")
        print(f"      {', '.join(places)}")


if __name__ == "__main__":
    sys.exit(main())
