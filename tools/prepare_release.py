"""Prepare a release: `python -m tools.prepare_release 0.2.0` writes the version into all files that name it.

From a version to changed files: the version of the package, the plugins, the chart, the image and the documents, and
the section of CHANGELOG.md, which "Unreleased" becomes. Prints the commands that follow.
"""

import re
import sys

from tools.release import CHANGES, CHART, CONTRIB, PROJECTS, ROOT, fitting_requirement, notes, versions

# each line of these files that names the version: a pattern with the version between two groups
_NUMBER = r"\d+\.\d+\.\d+"
PLACES = {
    "packages/scheduler/src/kubesched/__init__.py": rf'(^__version__ = "){_NUMBER}(")',
    **dict.fromkeys(PROJECTS, rf'(^version = "|"kubesched-\w+==){_NUMBER}(")'),
    CHART: rf"(^(?:appVersion|version): ){_NUMBER}()",
    "deploy/Dockerfile": rf"(^ARG VERSION=|/kubesched:){_NUMBER}()",
    "README.md": rf"(/kubesched:){_NUMBER}()",
    "docs/guides/operator/deploying.md": rf"(/kubesched:|newTag: |--version ){_NUMBER}()",
    "docs/guides/operator/integrations.md": rf"(/kubesched:|kubesched/kubesched@v){_NUMBER}()",
    "docs/guides/clusters/testing.md": rf"(kubesched/kubesched@v){_NUMBER}()",
    "tests/documents/exempt.py": rf"(/kubesched:|--version ){_NUMBER}()",
    "tests/documents/test_in_order.py": rf"(/kubesched:){_NUMBER}()",
}
_REQUIRED = r"kubesched-scheduler>=[\d.]+,<[\d.]+"
_UNRELEASED = re.compile(r"^## Unreleased( [^\n]*)?\n", re.MULTILINE)


def with_version(text: str, pattern: str, version: str) -> str:
    """Return a text with the version at all places of a pattern."""
    return re.sub(pattern, rf"\g<1>{version}\g<2>", text, flags=re.MULTILINE)


def released(changes: str, version: str) -> str:
    """Return the list of changes with "Unreleased" as the section of the version, and a new, empty "Unreleased".

    A section that the version already has, written before it was released, is joined to it.
    """
    if not notes(changes, "Unreleased"):
        return changes
    earlier = notes(changes, version)
    changes = re.sub(
        rf"^## {re.escape(version)}(?: [^\n]*)?\n.*?(?=^## |\Z)", "", changes, flags=re.DOTALL | re.MULTILINE
    )
    found = _UNRELEASED.search(changes)
    assert found is not None
    release = found[1] or ""
    lead = f"{earlier}\n\n" if earlier else ""
    body = changes[found.end() :].lstrip("\n")
    return f"{changes[: found.start()]}## Unreleased{release}\n\n## {version}{release}\n\n{lead}{body}".rstrip() + "\n"


def main() -> int:
    """Write the version, and print the commands that follow."""
    (version,) = sys.argv[1:]
    if not re.fullmatch(_NUMBER, version):
        print(f"the version is {version!r}: expected three numbers, such as 0.2.0", file=sys.stderr)
        return 2
    before = next(iter(versions().values()))
    for name, pattern in PLACES.items():
        path = ROOT / name
        text = with_version(path.read_text(), pattern, version)
        path.write_text(re.sub(_REQUIRED, fitting_requirement(version), text) if name == CONTRIB else text)
    path = ROOT / CHANGES
    path.write_text(released(path.read_text(), version))
    print(f"""All files name {version} (before: {before}). Read the changes with git diff. Then:
  .ci/run
  git commit -am "Release {version}"
  make release-check TAG=v{version}
  git tag -s v{version} -m v{version} && git push origin main v{version}
The workflow "release" tests, builds, attests and publishes the tag.""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
