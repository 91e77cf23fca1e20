"""Feature gates: their stages and defaults by version, and which gates depend on which."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from kubesched.config import feature_gates
from kubesched.config.feature_gates import DEPENDENCIES
from tools.upstream.report import Section, differences
from tools.upstream.sources import Source

LISTS = (
    "test/compatibility_lifecycle/reference/versioned_feature_list.yaml",
    "hack/tools/compatibility_lifecycle/reference/versioned_feature_list.yaml",
)
DEPENDENCY_TABLES = (
    "pkg/features/kube_features.go",
    "staging/src/k8s.io/apiserver/pkg/features/kube_features.go",
    "staging/src/k8s.io/client-go/features/known_features.go",
)
# gates that kube-scheduler does not have
OF_OTHERS = ("ControllerManagerReleaseLeaderElectionLockOnExit",)
# switches of all gates of a stage, which are in no list
STAGES = ("AllAlpha", "AllBeta")
# the gates of Go's client are only in its source
CLIENT = "staging/src/k8s.io/client-go/features/known_features.go"
DATA = Path(feature_gates.__file__).with_suffix(".json")

Specs = dict[str, list[dict[str, Any]]]
_ENTRY = re.compile(r"^\t(?:\w+\.)?(\w+):\s+\{([^{}]*)\},", re.MULTILINE)
# of `Name`, `package.Name` and `featuregate.Feature(package.Name)`
_LAST_WORD = re.compile(r"(\w+)\)?\s*(?:,|$)")
_SPECS = re.compile(r"^\t(\w+): \{\n((?:\t\t\{.*\},?\n)+)\t\},", re.MULTILINE)
_SPEC = re.compile(r'MustParse\("([\d.]+)"\).*PreRelease:\s*(\w+)')
_TABLE = re.compile(r"map\[\w*\.?Feature\]\[\]\w*\.?Feature\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)


def compare(source: Source, known: set[str]) -> Section:
    """Compare the gates; `known` has those in the help text of kube-scheduler, if it was given."""
    theirs, ours = upstream_specs(source), _ours()
    found = list(
        differences(
            {name: shown(specs) for name, specs in ours.items()},
            {name: shown(theirs[name]) for name in _relevant(theirs)},
        )
    )
    found += [
        f"{name}: in the help text, not in upstream's list" for name in sorted(known - theirs.keys() - ours.keys())
    ]
    return Section("feature gates", len(ours), found)


def compare_dependencies(source: Source) -> Section:
    """Compare which gates have to be on for others."""
    theirs: dict[str, list[str]] = {}
    for path in DEPENDENCY_TABLES:
        theirs |= upstream_dependencies(source.read(path) or "")
    ours = {name: sorted(needed) for name, needed in DEPENDENCIES.items()}
    return Section("dependencies of gates", len(ours), list(differences(ours, theirs)))


def regenerate(source: Source) -> str:
    """Return the data file of gates as it has to be for upstream."""
    theirs, ours = upstream_specs(source), _ours()
    kept = {name: ours[name] for name in STAGES}
    renewed = {name: theirs[name] for name in _relevant(theirs)}
    return json.dumps(kept | renewed, separators=(",", ":"), sort_keys=True) + "\n"


def shown(specs: list[dict[str, Any]]) -> str:
    """Return the history of a gate in a few words."""
    return ", ".join(
        f"{spec['version']} {spec['stage'].lower()} {'on' if spec['default'] else 'off'}"
        f"{' locked' if spec['lockToDefault'] else ''}"
        for spec in specs
    )


def _relevant(theirs: Specs) -> list[str]:
    return [name for name in theirs if name not in OF_OTHERS]


def upstream_specs(source: Source) -> Specs:
    """Return what each gate is from which version on, as our data file has it."""
    listed = {
        gate["name"]: [
            {
                "default": spec["default"],
                "lockToDefault": spec["lockToDefault"],
                "stage": spec["preRelease"].upper(),
                "version": spec["version"],
            }
            for spec in gate["versionedSpecs"]
        ]
        for gate in yaml.safe_load(source.first(*LISTS))
    }
    return listed | client_specs(source.read(CLIENT) or "")


def client_specs(text: str) -> Specs:
    """Return the gates in a Go source that declares them by version."""
    return {
        name: [
            {
                "default": "Default: true" in line,
                "lockToDefault": "LockToDefault: true" in line,
                "stage": stage.upper(),
                "version": version,
            }
            for line in body.splitlines()
            for version, stage in _SPEC.findall(line)
        ]
        for name, body in _SPECS.findall(text)
    }


def upstream_dependencies(text: str) -> dict[str, list[str]]:
    """Return the gates that depend on others, from a Go source."""
    tables = "".join(_TABLE.findall(re.sub(r"//.*", "", text)))
    found = {name: sorted(_LAST_WORD.findall(needed)) for name, needed in _ENTRY.findall(tables)}
    return {name: needed for name, needed in found.items() if needed}


def _ours() -> Specs:
    specs: Specs = json.loads(DATA.read_text())
    return specs
