"""The files of a Kubernetes repository: of a checkout, or of one revision in a git directory."""

import subprocess
from abc import ABC, abstractmethod
from fnmatch import fnmatch
from functools import cache
from pathlib import Path


class SourceError(Exception):
    """A repository that cannot be read."""


class Source(ABC):
    """Files by their path from the root of the repository."""

    @abstractmethod
    def read(self, path: str) -> str | None:
        """Return the content of a file, None if there is no such file."""

    @abstractmethod
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files."""

    def matching(self, *patterns: str) -> list[str]:
        """Return the paths that fit one of the patterns; `*` also stands for slashes."""
        return [path for path in self.paths() if any(fnmatch(path, pattern) for pattern in patterns)]

    def first(self, *paths: str) -> str:
        """Return the content of the first of some files that exists; upstream moves files now and then."""
        for path in paths:
            text = self.read(path)
            if text is not None:
                return text
        raise SourceError(f"upstream has none of {', '.join(paths)}")


class Checkout(Source):
    """A working tree."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        if not (directory / "staging/src/k8s.io").is_dir():
            raise SourceError(f"{directory} is no checkout of kubernetes: it has no staging/src/k8s.io")

    def read(self, path: str) -> str | None:
        """Return the content of a file, None if there is no such file."""
        place = self._directory / path
        return place.read_text() if place.is_file() else None

    @cache  # noqa: B019  one instance a process
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files."""
        places = self._directory.rglob("*")
        return tuple(sorted(str(place.relative_to(self._directory)) for place in places if place.is_file()))


class Revision(Source):
    """One commit or tag in a git directory; files whose content git does not have are taken for missing."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self.name = name
        self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")

    def read(self, path: str) -> str | None:
        """Return the content of a file, None if there is no such file."""
        try:
            return self._git("show", f"{self.name}:{path}")
        except SourceError:
            return None

    @cache  # noqa: B019  one instance a process
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files."""
        return tuple(self._git("ls-tree", "-r", "--name-only", self.name).splitlines())

    def changed_since(self, older: str) -> list[str]:
        """Return the paths of files that were added, changed or removed since another revision."""
        return self._git("diff", "--name-only", "--no-renames", older, self.name).splitlines()

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self._directory), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SourceError(f"git {' '.join(arguments)}: {done.stderr.strip() or 'failed'}")
        return done.stdout


def open_source(directory: Path, revision: str = "") -> Source:
    """Return the files of a checkout, or those of a revision if one is named."""
    return Revision(directory, revision) if revision else Checkout(directory)
