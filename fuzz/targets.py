"""All targets by name, and the seeds of each."""

import importlib
from collections.abc import Callable
from pathlib import Path

Target = Callable[[bytes], None]

CORPUS = Path(__file__).parent / "corpus"
# each is imported only for its own targets, since atheris takes its time with what it follows
_MODULES = ("decoder_targets", "server_targets", "verdict_targets")
_VERDICTS = "verdicts-"


def all_targets() -> dict[str, Target]:
    """Return all targets by name."""
    return {name: target for module in _MODULES for name, target in _targets_in(module).items()}


def target_named(name: str) -> Target:
    """Return one target; KeyError if there is none of that name."""
    if name.startswith(_VERDICTS):
        return _targets_in("verdict_targets")[name]
    for module in _MODULES:
        if name in (found := _targets_in(module)):
            return found[name]
    raise KeyError(name)


def seeds_of(name: str) -> list[bytes]:
    """Return the inputs to begin with."""
    found = [path.read_bytes() for path in sorted((CORPUS / name).glob("*")) if path.is_file()]
    if name.startswith(_VERDICTS):
        from fuzz.verdict_targets import seeds

        found += seeds(name.removeprefix(_VERDICTS))
    return found or [b""]


def _targets_in(module: str) -> dict[str, Target]:
    targets: tuple[Target, ...] = importlib.import_module(f"fuzz.{module}").TARGETS
    prefix = _VERDICTS if module == "verdict_targets" else ""
    return {prefix + target.__name__: target for target in targets}
