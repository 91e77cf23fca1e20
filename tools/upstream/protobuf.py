"""Field numbers in Protocol Buffers, from upstream's generated.proto files."""

import re

from kubesched_controlplane.representation.protobuf import members_of
from kubesched_controlplane.schema import library
from tools.upstream.packages import package_of
from tools.upstream.report import Section, differences
from tools.upstream.sources import Source

_FIELD = re.compile(r"^  (?:(?:optional|repeated) \S+|map<[^>]*>) (\w+) = (\d+);", re.MULTILINE)
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)


def compare(source: Source) -> Section:
    """Compare the number of every field of every type; an embedded type has its number alone."""
    ours: dict[str, dict[str, str]] = {}
    theirs: dict[str, dict[str, str]] = {}
    files: dict[str, dict[str, dict[int, str]]] = {}
    for shape in library().shapes():
        package = package_of(shape.api_version)
        if package not in files:
            files[package] = messages(source.read(f"{package}/generated.proto") or "")
        message = files[package].get(shape.name)
        # types without a message are read as JSON only
        if message is None:
            continue
        name = f"{shape.api_version} {shape.name}"
        mine = members_of(shape)
        ours[name] = {str(number): _plain(mine[number][0] or message.get(number, "?")) for number in mine}
        theirs[name] = {str(number): _plain(field) for number, field in message.items()}
    return Section("numbers in Protocol Buffers", len(ours), list(differences(ours, theirs)))


def _plain(name: str) -> str:
    """Return a name as it can be compared: Protocol Buffers allow no signs in it."""
    return re.sub(r"\W", "", name.removeprefix("x-kubernetes-")).removeprefix("xKubernetes").lower()


def messages(text: str) -> dict[str, dict[int, str]]:
    """Return the messages of a file: names of fields by their number."""
    return {name: _fields(body) for name, body in _MESSAGE.findall(text)}


def _fields(body: str) -> dict[int, str]:
    return {int(number): name for name, number in _FIELD.findall(body)}
