"""Types as Go declares them, in the notation of `schema/data`: what `make upstream WRITE=1` puts there.

From the struct tags and markers of upstream's types.go files. Comments are read for markers (`+optional`, `+listType`,
`+listMapKey`, `+mapType`, `+structType`) and for nothing else. The marks of our fields, which are not in these files,
are kept.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from kubesched_controlplane.schema import data, library
from kubesched_controlplane.schema.notation import CORE, META, Library, NotationError
from kubesched_controlplane.schema.shapes import Field, Shape
from tools.upstream.accepted import is_accepted
from tools.upstream.packages import package_of
from tools.upstream.report import Section
from tools.upstream.sources import Source

FILES = ("types.go", "types_*.go", "shard_types.go")
_STRUCT = re.compile(r"((?:^//[^\n]*\n)*)^type (\w+) struct ?\{(?:\}|\n(.*?)^\})", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^\t(?:(\w+)\s+)?([\w.*\[\]]+)\s+`(.*)`")
_MARKER = re.compile(r"^\s*// ?\+([\w:]+)(?:=(\S+))?")
_SAME_KEY = re.compile(r"map\((\w+)\) merge\(\1\)")
_TAG = re.compile(r'(\w+):"([^"]*)"')
_SCALARS = {
    "resource.Quantity": "Quantity",
    "intstr.IntOrString": "IntOrString",
    "runtime.RawExtension": "RawExtension",
    "types.UID": "UID",
    "metav1.Duration": "string",
}
_IMPORT = re.compile(r'^\t(\w+) "k8s\.io/([\w/-]+)"$', re.MULTILINE)
_ALIAS = re.compile(r"^type (\w+) ((?:map\[|\[\])\S+)", re.MULTILINE)
_TEXT = re.compile(r"^type (\w+) string$", re.MULTILINE)
# lists and maps that have their name in the notation, too
_WRITTEN_DOWN = ("ResourceList", "ExtraValue")
_WIDTH = 118
# spaces outside the arguments of marks
_BEFORE_MARK = re.compile(r" (?![^()]*\))")


# declarations by group and version, and name
Changes = dict[tuple[str, str], str]


class Names(msgspec.Struct, frozen=True):
    """What names in a Go source stand for: lists and maps with a name, and packages of other groups."""

    aliases: dict[str, str] = {}
    packages: dict[str, str] = {}


class GoField(msgspec.Struct, frozen=True):
    """One field of a struct: its type in the notation, its tags, and the markers above it."""

    go_type: str
    type: str
    tags: dict[str, str]
    markers: dict[str, list[str]]


class GoStruct(msgspec.Struct, frozen=True):
    """One struct."""

    name: str
    atomic: bool
    fields: tuple[GoField, ...]


class GoPackage(msgspec.Struct):
    """The structs of a package, and the names of its texts."""

    structs: dict[str, GoStruct]
    texts: set[str]

    def unknown(self, api_version: str) -> dict[str, str]:
        """Return the declarations of types that are not written down here, by name."""
        known = _known(api_version)
        found = {name: f"string: {name}" for name in self.texts if name not in known}
        return found | {name: declaration(each, False) for name, each in self.structs.items() if name not in known}


def _known(api_version: str) -> set[str]:
    """Return the names of all types that are written down for a group and version, or for all."""
    text = "\n".join(text for version, text in data.TEXTS if version in (api_version, CORE, META))
    strings = re.findall(r"^string: (.*)", text, re.MULTILINE)
    return {*re.findall(r"^(\w+)(?: kind)?(?: atomic)?(?::| =)", text, re.MULTILINE), *", ".join(strings).split(", ")}


def compare(source: Source) -> tuple[Section, Changes]:
    """Compare every type with its declaration in Go; return also the notation of each that differs.

    The notation of a type that differs comes with those of types that it newly refers to.
    """
    found: list[str] = []
    changed: Changes = {}
    packages: dict[str, GoPackage] = {}
    compared = 0
    for shape in library().shapes():
        version = shape.api_version
        if version not in packages:
            packages[version] = _package(source, package_of(version))
        struct = packages[version].structs.get(shape.name)
        if struct is None:
            found.append(f"{version} {shape.name}: upstream has no such type")
            continue
        compared += 1
        text, unknown = declaration(struct, shape.is_kind, shape.fields), packages[version].unknown(version)
        try:
            theirs = _read(shape, "\n".join([text, *unknown.values()]))
        except NotationError as error:
            found.append(f"{version} {shape.name}: {error}")
            continue
        lines = list(_differences(shape, theirs))
        found += lines
        if not all(map(is_accepted, lines)):
            changed[version, shape.name] = "\n".join([text, *_reachable(text, unknown)])
    return Section("types in Go", compared, found), changed


def _reachable(text: str, unknown: dict[str, str]) -> list[str]:
    """Return the declarations of unknown types that a text refers to, directly or not."""
    found: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for word in re.findall(r"\w+", waiting.pop()):
            if word in unknown and word not in found:
                found[word] = unknown[word]
                waiting.append(unknown[word])
    return list(found.values())


def _package(source: Source, path: str) -> GoPackage:
    texts = [source.first(each) for each in source.matching(*(f"{path}/{name}" for name in FILES))]
    found = {each.name: each for text in texts for each in structs(text)}
    return GoPackage(found, {name for text in texts for name in _TEXT.findall(text)})


def structs(text: str) -> Iterator[GoStruct]:
    """Yield the structs in a Go source."""
    packages = {package_of(version).partition("k8s.io/")[2]: version for version, _ in data.TEXTS}
    imported = {alias: packages.get(path, "") for alias, path in _IMPORT.findall(text)}
    names = Names(
        {name: type_ for name, type_ in _ALIAS.findall(text) if name not in _WRITTEN_DOWN},
        {alias: version for alias, version in imported.items() if version not in ("", CORE, META)},
    )
    for comment, name, body in _STRUCT.findall(text):
        atomic = any(_MARKER.match(line) and "structType=atomic" in line for line in comment.splitlines())
        yield GoStruct(name, atomic, tuple(_go_fields(body, names)))


def _go_fields(body: str, names: Names) -> Iterator[GoField]:
    markers: dict[str, list[str]] = {}
    for line in body.splitlines():
        if marker := _MARKER.match(line):
            markers.setdefault(marker[1], []).append(marker[2] or "")
        elif found := _FIELD.match(line):
            yield GoField(found[2], _type(found[2].lstrip("*"), names), dict(_TAG.findall(found[3])), markers)
            markers = {}
        elif not line.strip():
            markers = {}


def declaration(struct: GoStruct, is_kind: bool, ours: Mapping[str, Field] = MappingProxyType({})) -> str:
    """Return a struct in the notation, in lines that are not too long, with the marks of our fields."""
    head = f"{struct.name}{' kind' if is_kind else ''}{' atomic' if struct.atomic else ''}:"
    fields = [text for each in struct.fields if (text := _notation(each, ours))]
    if is_kind and fields[:2] == ["+TypeMeta", "metadata=1 ObjectMeta"]:
        fields = fields[2:]
    elif is_kind and "+TypeMeta" not in fields:
        fields = ["+TypeMeta", *fields]
    lines, line = [], head
    for text in fields:
        joined = f"{line} {text}" if line == head else f"{line}, {text}"
        if len(joined) > _WIDTH:
            lines.append(line)
            joined = f"    {_wrapped(text)}"
        line = joined
    return "\n".join([*lines, line])


def _wrapped(text: str) -> str:
    """Return a field with its last marks on a line of their own, if it is too long for one."""
    if len(text) + 4 <= _WIDTH:
        return text
    ends = [found.start() for found in _BEFORE_MARK.finditer(text) if found.start() + 4 <= _WIDTH]
    return f"{text[: ends[-1]]}\n        {text[ends[-1] + 1 :]}" if ends else text


def _notation(field: GoField, ours: Mapping[str, Field]) -> str:
    """Return a field in the notation; nothing if it is not in JSON."""
    name, *options = field.tags.get("json", "-").split(",")
    number = next(iter(re.findall(r"^\w+,(\d+)", field.tags.get("protobuf", ""))), "")
    if name == "-":
        return ""
    if "inline" in options or not name:
        inner = field.go_type.lstrip("*").rpartition(".")[2]
        return f"+{inner}={number}" if number else f"+{inner}"
    always = "omitempty" not in options and "omitzero" not in options
    optional = "optional" in field.markers or ("required" not in field.markers and not always)
    type_ = field.type
    # a pointer to a list or map is written like the list or map
    pointer = "*" if field.go_type.startswith("*") and not type_.startswith(("[]", "map[")) else ""
    marks = ours[name].marks if name in ours else ()
    words = [*_ownership(field, type_), *_merging(field)]
    words += ["optional"] if always and optional else ["required"] if not always and not optional else []
    words += ["omitzero"] if "omitzero" in options and not pointer and type_ == "Time" else []
    words += map(str, marks)
    shown = f"{pointer}{type_}" if words or pointer or type_ != "string" else ""
    text = " ".join(part for part in (f"{name}={number}{'!' if always else ''}", shown, *words) if part)
    return _SAME_KEY.sub(r"by(\1)", text)


def _ownership(field: GoField, type_: str) -> list[str]:
    listed, mapped = (field.markers.get(name, [""])[0] for name in ("listType", "mapType"))
    if listed == "map" and type_.startswith("[]"):
        return [f"map({' '.join(field.markers.get('listMapKey', ()))})"]
    chosen = listed if type_.startswith("[]") else mapped or field.markers.get("structType", [""])[0]
    return [chosen] if chosen else []


def _merging(field: GoField) -> list[str]:
    key = field.tags.get("patchMergeKey", "")
    strategies = sorted(filter(None, field.tags.get("patchStrategy", "").split(",")))
    return [f"merge({key})" if word == "merge" and key else word for word in strategies]


def _type(go: str, names: Names) -> str:
    """Return a Go type in the notation."""
    if go == "[]byte":
        return "bytes"
    if go.startswith("[]"):
        return f"[]{_type(go[2:].lstrip('*'), names)}"
    if go.startswith("map["):
        key, _, value = go[4:].partition("]")
        return f"map[{key.rpartition('.')[2]}]{_type(value, names)}"
    if go in names.aliases:
        return _type(names.aliases[go], names)
    package, _, name = go.rpartition(".")
    if package in names.packages:
        return f"{names.packages[package]}.{name}"
    return _SCALARS.get(go) or name


def _differences(shape: Shape, theirs: Shape) -> Iterator[str]:
    """Yield what differs between our shape of a type and upstream's."""
    where = f"{shape.api_version} {shape.name}"
    if shape.atomic != theirs.atomic:
        yield f"{where}: atomic is {shape.atomic} here, {theirs.atomic} upstream"
    for name in [*shape.fields, *(name for name in theirs.fields if name not in shape.fields)]:
        if name not in theirs.fields:
            yield f"{where}.{name}: not upstream"
        elif name not in shape.fields:
            yield f"{where}.{name}: missing here, upstream {_shown(theirs.fields[name])}"
        elif _shown(shape.fields[name]) != _shown(theirs.fields[name]):
            yield f"{where}.{name}: {_shown(shape.fields[name])} here, {_shown(theirs.fields[name])} upstream"
    if shape.embedded != theirs.embedded:
        yield f"{where}: embeds {shape.embedded} here, {theirs.embedded} upstream"


def _read(shape: Shape, text: str) -> Shape:
    """Return a declaration as a shape, beside all the others that are known."""
    others = Library((*data.TEXTS, (shape.api_version, text)))
    found = others.named(shape.api_version, shape.name)
    assert isinstance(found, Shape)
    return found


def _shown(field: Field) -> str:
    """Return all facts about a field."""
    facts = [
        f"{field.number}{'!' if field.always else ''}",
        f"{'*' if field.pointer else ''}{field.type.go}",
        f"{field.list_type}({' '.join(field.map_keys)})" if field.map_keys else field.list_type,
        f"merge by {field.merge_key}" if field.merge_key else "",
        *sorted(field.strategies),
        "required" if field.required else "",
        "omitzero" if field.omit_zero else "",
    ]
    return " ".join(fact for fact in facts if fact)


def write(changed: Changes) -> list[str]:
    """Put changed declarations into the modules of `schema/data`; return the names of those modules."""
    written = []
    for module in sorted(Path(data.__file__).parent.glob("[a-z]*.py")):
        text = before = module.read_text()
        for version, block in data.TEXTS:
            if block in text:
                declarations = {name: declared for (of, name), declared in changed.items() if of == version}
                text = text.replace(block, _renewed(block, declarations))
        if text != before:
            module.write_text(text)
            written.append(module.name)
    return written


def _renewed(block: str, declarations: dict[str, str]) -> str:
    for name, declared in declarations.items():
        block = replaced(block, name, declared)
    return block


def replaced(text: str, name: str, declared: str) -> str:
    """Return a text with another declaration of a type."""
    pattern = rf"^{name}(?: kind)?(?: atomic)?:.*(?:\n .*)*"
    return re.sub(pattern, lambda _: declared, text, count=1, flags=re.MULTILINE)
