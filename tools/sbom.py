"""What the package consists of, as CycloneDX: `python -m tools.sbom requirements-runtime.lock > sbom.json`.

From a lock to a bill of materials: each package with its version, its package URL and the hashes of the files that may
be installed. The same lock always gives the same text.
"""

import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import kubesched

_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)\s*(?:;\s*([^\\\n]+?))?\s*\\?$", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class LockedPackage(NamedTuple):
    """A package of a lock; `marker` says on which machines it is installed, empty: on all."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def packages(lock: str) -> list[LockedPackage]:
    """Return the packages of a lock."""
    found = []
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        pin = _PIN.match(entry)
        if pin is None:
            raise ValueError(f"no package is pinned with ==: {entry.splitlines()[0]}")
        found.append(LockedPackage(pin[1], pin[2], pin[3] or "", tuple(_HASH.findall(entry))))
    return found


def bill_of_materials(lock: str, version: str) -> dict[str, Any]:
    """Return the bill of materials of kubesched."""
    root = _url("kubesched", version)
    known = packages(lock)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, root + lock)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "kubesched",
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [_component(each) for each in known],
        "dependencies": [{"ref": root, "dependsOn": [_url(each.name, each.version) for each in known]}],
    }


def _component(package: LockedPackage) -> dict[str, Any]:
    url = _url(package.name, package.version)
    page = f"https://pypi.org/project/{package.name}/{package.version}/"
    marker = [{"name": "python:marker", "value": package.marker}] if package.marker else []
    return {
        "type": "library",
        "bom-ref": url,
        "name": package.name,
        "version": package.version,
        "purl": url,
        # files differ by machine and Python: each of them has its hash
        "externalReferences": [
            {
                "type": "distribution",
                "url": page,
                "hashes": [{"alg": "SHA-256", "content": each} for each in package.hashes],
            }
        ],
        **({"properties": marker} if marker else {}),
    }


def _url(name: str, version: str) -> str:
    return f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}"


if __name__ == "__main__":
    print(json.dumps(bill_of_materials(Path(sys.argv[1]).read_text(), kubesched.__version__), indent=2))
