"""The flag `--version`: its values, and its output.

From the flag's text to one of `false`, `true` and `raw`, or to the version to report instead of the release's.
"""

# upstream: component-base/version (dynamic.go), component-base/version/verflag (v1.36)

import platform
import re

from kubesched.api.go_text import quote
from kubesched.api.release import GIT_VERSION, MAJOR, MINOR
from kubesched.common.platform_name import platform_name
from kubesched.config.golang import parse_bool

_NUMBERS = re.compile(r"\s*v?([0-9]+(?:\.[0-9]+)*)(.*)", re.DOTALL)
_WORDS = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_EXTRA = re.compile(rf"(?:-({_WORDS}))?(?:\+{_WORDS})?\s*")


def parse_version(text: str) -> str:
    """Return the value of `--version`; ValueError with the reference's message."""
    if text == "raw":
        return text
    if text.startswith("v"):
        if text != GIT_VERSION and _semantic(text) != _semantic(GIT_VERSION):
            raise ValueError(
                f"version {quote(text)} must match major/minor/patch of default version {quote(GIT_VERSION)}"
            )
        return text
    return "true" if parse_bool(text) else "false"


def reported(flag: str) -> str:
    """Return the version that metrics and pages show."""
    return flag if flag.startswith("v") else GIT_VERSION


def version_text(flag: str) -> str | None:
    """Return the text that --version prints; None if the flag is not given."""
    if flag == "true":
        return f"Kubernetes {GIT_VERSION}"
    return _raw() if flag == "raw" else None


def _raw() -> str:
    """Return all fields of the version, as Go prints a struct."""
    fields = {
        "Major": str(MAJOR),
        "Minor": str(MINOR),
        "EmulationMajor": "",
        "EmulationMinor": "",
        "MinCompatibilityMajor": "",
        "MinCompatibilityMinor": "",
        "GitVersion": GIT_VERSION,
        # differs (D-110): the reference prints commit, date and compiler of its build, which do not exist here
        "GitCommit": "",
        "GitTreeState": "",
        "BuildDate": "",
        "GoVersion": f"python{platform.python_version()}",
        "Compiler": platform.python_implementation().lower(),
        "Platform": platform_name(),
    }
    return f"version.Info{{{', '.join(f'{name}:{quote(value)}' for name, value in fields.items())}}}"


# upstream: apimachinery/pkg/util/version (ParseSemantic) (v1.36)
def _semantic(text: str) -> list[int]:
    """Return the numbers of a semantic version."""
    found = _NUMBERS.fullmatch(text)
    if found is None:
        raise ValueError(f"could not parse {quote(text)} as version")
    numbers, extra = found[1].split("."), _EXTRA.fullmatch(found[2])
    if len(numbers) != 3:
        raise ValueError(f"illegal version string {quote(text)}")
    _check_zeros(numbers, text)
    if extra is None:
        raise ValueError(f"could not parse pre-release/metadata ({found[2]}) in version {quote(text)}")
    _check_zeros([word for word in (extra[1] or "").split(".") if word.isdigit()], text)
    return [int(number) for number in numbers]


def _check_zeros(numbers: list[str], text: str) -> None:
    for number in numbers:
        if number.startswith("0") and number != "0":
            raise ValueError(f"illegal zero-prefixed version component {quote(number)} in {quote(text)}")
