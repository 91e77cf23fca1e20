"""One target under one engine: `python -m fuzz.one ENGINE TARGET SECONDS FOLDER`; what `python -m fuzz` starts.

Ends with 0 if nothing was found; with 1 after it has written the input and the traceback into the folder.
"""

import hashlib
import os
import sys
from pathlib import Path

# whose branches are followed
PACKAGES = ["kubesched", "kubesched_answers", "kubesched_controlplane", "kubesched_lab"]


def main() -> int:
    """Run the target."""
    engine, name, seconds, folder = sys.argv[1:5]
    findings = Path(folder)
    findings.mkdir(parents=True, exist_ok=True)
    if engine == "atheris":
        return _with_atheris(name, float(seconds), findings)
    from fuzz.engines import with_hypothesis
    from fuzz.targets import target_named

    tried, data, trace = with_hypothesis(name, target_named(name), float(seconds))
    print(f"{tried} inputs")
    if data is None:
        return 0
    file = findings / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    file.write_bytes(data)
    file.with_suffix(".txt").write_text(trace)
    print(f"{trace.strip().splitlines()[-1]}\n{file}")
    return 1


def _with_atheris(name: str, seconds: float, findings: Path) -> int:
    import atheris

    with atheris.instrument_imports(include=PACKAGES, enable_loader_override=False):
        from fuzz.engines import with_atheris
        from fuzz.targets import target_named

        target = target_named(name)
    sys.argv = [sys.argv[0], f"-artifact_prefix={findings}{os.sep}{name}-"]
    # does not return: libFuzzer ends the process
    with_atheris(name, target, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
