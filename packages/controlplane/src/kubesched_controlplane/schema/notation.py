"""The notation of shapes, and its reader.

From the texts in `data` to shapes, each made at first use. A text is for one group and version:

    string: PodPhase, DNSPolicy                             named texts
    ResourceList = map[ResourceName]Quantity                another name for a type
    Pod kind: spec=2 PodSpec, status=3 PodStatus            a kind: +TypeMeta and metadata=1 are implied
    LabelSelector atomic: matchLabels=1 map[string]string   a type with fields; further lines are indented, and twice
                                                            if they continue a field
    Volume: name=1!, +VolumeSource=2                        the fields of another type among its own

A field is `name=NUMBER type words`; without a type it is a text. NUMBER is the field's number in Protocol Buffers; an
embedded type (`+VolumeSource`) has one as a whole, TypeMeta none, since the envelope has both. `!` after the
number: required, and written even when zero; `*` before the type: absent differs from zero. The words: `atomic`, `set`,
`granular`, `map(KEYS)` are the list type or map type for server-side apply; `merge`, `merge(KEY)`, `replace`,
`retainKeys` the strategy for strategic merge patches; `by(KEY)` is `map(KEY) merge(KEY)`; `optional` and `required`
override whether `!` makes a field required; `omitzero` leaves out a zero that Go would write. A type is looked up in
its own text, then in the core group, then in meta.k8s.io; or it is written with its group and version.

After these words come the marks, which are rules about the value in the order in which they are applied:

    default(V)      the value of a missing field
    nonempty        a value must be given; nonempty(WHY) has a reason for the message
    enum(A|B)       one of these texts
    format(NAME)    a text or number of this form, such as `subdomain` or `port`
    length(N)       at most N bytes
    min(N), max(N)  bounds of a number; min(N WHY) has another message
    range(N M)      both bounds, in one message; range(N M WHY) has another one
    most(N)         at most N items
    distinct(KEY)   no two objects of the list have the same value of a field
    unique          no item of the list occurs twice
    wildcard(WHAT)  an item `*` stands alone
    conditions      the list has valid conditions
    immutable       an update may not change the value

`enum` and `format` of a list or map of texts hold for each item. A missing text has no format, and a missing pointer
needs only to be there if it is `nonempty`.
"""

import re

from msgspec.structs import replace

from kubesched_controlplane.schema.shapes import Field, ListType, MapType, Mark, Scalar, ScalarType, Shape, Type

CORE, META = "v1", "meta.k8s.io/v1"

_SCALARS: dict[str, Type] = {
    "string": ScalarType(Scalar.STRING, "string"),
    "bool": ScalarType(Scalar.BOOL, "bool"),
    "int32": ScalarType(Scalar.INT32, "int32"),
    "int64": ScalarType(Scalar.INT64, "int64"),
    "float64": ScalarType(Scalar.FLOAT64, "float64"),
    "bytes": ScalarType(Scalar.BYTES, "[]uint8"),
    "UID": ScalarType(Scalar.STRING, "types.UID"),
    "Quantity": ScalarType(Scalar.QUANTITY, "resource.Quantity"),
    "MilliQuantity": ScalarType(Scalar.MILLI_QUANTITY, "resource.Quantity"),
    "Time": ScalarType(Scalar.TIME, "v1.Time"),
    "MicroTime": ScalarType(Scalar.MICRO_TIME, "v1.MicroTime"),
    "IntOrString": ScalarType(Scalar.INT_OR_STRING, "intstr.IntOrString"),
    "RawExtension": ScalarType(Scalar.RAW, "runtime.RawExtension"),
    "FieldsV1": ScalarType(Scalar.RAW, "v1.FieldsV1"),
    "Any": ScalarType(Scalar.ANY, "interface {}"),
    "JSON": ScalarType(Scalar.ANY, "v1.JSON"),
    # JSON of several forms, which are different messages in Protocol Buffers
    "JSONSchemaPropsOrArray": ScalarType(Scalar.ANY, "v1.JSONSchemaPropsOrArray"),
    "JSONSchemaPropsOrBool": ScalarType(Scalar.ANY, "v1.JSONSchemaPropsOrBool"),
    "JSONSchemaPropsOrStringArray": ScalarType(Scalar.ANY, "v1.JSONSchemaPropsOrStringArray"),
}
_NAMED_TEXTS = re.compile(r"string: (.+)")
_ALIAS = re.compile(r"(\w+) = (\S+)")
_SHAPE = re.compile(r"(\w+)( kind)?( atomic)?:(.*)")
_EMBEDDED = re.compile(r"\+([\w./]+)=(\d+)")
# an argument of words may have parentheses of its own
_ARGUMENT = r"\((?:[^()]|\([^()]*\))+\)"
_TYPED = r"(\*?)((?:map\[\w+\]|\[\])*[\w./]+)"
_FIELD = re.compile(rf"([\w$-]+)=(\d+)(!?)(?: {_TYPED})?((?: [a-zA-Z]+(?:{_ARGUMENT})?)*)")
_WORD = re.compile(rf"([a-zA-Z]+)({_ARGUMENT})?")
# commas between fields, not in the words of marks
_COMMA = re.compile(r", (?![^()]*\))")
_TYPE_META = "+TypeMeta"
_OWNERSHIP = ("atomic", "set", "granular", "map")
_VALUE_MARKS = ("enum", "format", "length", "min", "max", "range", "unique", "wildcard", "conditions")
_MARKS = ("default", "nonempty", "most", "distinct", *_VALUE_MARKS, "immutable")


class NotationError(ValueError):
    """A malformed notation."""


class _Declaration:
    """A declared type whose fields have not been read yet."""

    def __init__(self, kind: bool, atomic: bool, text: str) -> None:
        self.kind = kind
        self.atomic = atomic
        self.text = text


class Library:
    """All declared types, by group and version and name."""

    def __init__(self, texts: tuple[tuple[str, str], ...]) -> None:
        self._declared: dict[tuple[str, str], _Declaration] = {}
        self._aliases: dict[tuple[str, str], str] = {}
        self._types: dict[tuple[str, str], Type] = {}
        for version, text in texts:
            self._declare(version, text)

    def kinds(self) -> list[tuple[str, str]]:
        """Return the group and version, and the name, of every kind."""
        return [name for name, declared in self._declared.items() if declared.kind]

    def shapes(self) -> list[Shape]:
        """Return every type that has fields."""
        return [self._shape(*name) for name in self._declared]

    def kind(self, version: str, name: str) -> Shape | None:
        """Return the shape of a kind, None if the group and version has no such kind."""
        declared = self._declared.get((version, name))
        return self._shape(version, name) if declared is not None and declared.kind else None

    def _declare(self, version: str, text: str) -> None:
        for line in re.sub(r"\n +", ", ", re.sub(r"\n {8}", " ", text)).splitlines():
            if not line:
                continue
            if found := _NAMED_TEXTS.fullmatch(line):
                package = version.rpartition("/")[2]
                for name in found[1].split(", "):
                    self._types[version, name] = ScalarType(Scalar.STRING, f"{package}.{name}")
            elif found := _ALIAS.fullmatch(line):
                self._aliases[version, found[1]] = found[2]
            elif found := _SHAPE.fullmatch(line):
                self._declared[version, found[1]] = _Declaration(bool(found[2]), bool(found[3]), found[4].strip(", "))
            else:
                raise NotationError(f"{version}: {line}")

    def _shape(self, version: str, name: str) -> Shape:
        found = self._types.get((version, name))
        if found is None:
            declared = self._declared[version, name]
            # registered before its fields, which may be of the same type
            shape = Shape(version, name, {}, declared.atomic, declared.kind)
            self._types[version, name] = found = shape
            self._fill(shape, declared)
        assert isinstance(found, Shape)
        return found

    def _fill(self, shape: Shape, declared: _Declaration) -> None:
        """Read the fields of a shape; raises NotationError if two of them have the same Protocol Buffers number."""
        texts = _COMMA.split(declared.text) if declared.text else []
        if declared.kind and texts[:1] != [_TYPE_META]:
            texts = [_TYPE_META, "metadata=1 ObjectMeta", *texts]
        for text in texts:
            if text == _TYPE_META:
                shape.fields.update(self._promoted(shape.api_version, "TypeMeta"))
            elif embedded := _EMBEDDED.fullmatch(text):
                shape.fields.update(self._promoted(shape.api_version, embedded[1]))
                shape.embedded[embedded[1]] = int(embedded[2])
            else:
                field = self._field(shape.api_version, text)
                shape.fields[field.name] = field
        numbers = [field.number for field in shape.fields.values() if not field.embedded]
        numbers += shape.embedded.values()
        if len(set(numbers)) < len(numbers):
            raise NotationError(f"{shape.api_version}: two fields of {shape.name} have the same number")

    def _promoted(self, version: str, name: str) -> dict[str, Field]:
        """Return the fields of a type that Go embeds."""
        inner = self.named(version, name)
        assert isinstance(inner, Shape)
        promoted = (replace(field, embedded=(name, *field.embedded)) for field in inner.fields.values())
        return {field.name: field for field in promoted}

    def _field(self, version: str, text: str) -> Field:
        found = _FIELD.fullmatch(text)
        if found is None:
            raise NotationError(f"{version}: {text}")
        name, number, mark, pointer, type_text, rest = found.groups()
        pairs = [(word, argument[1:-1]) for word, argument in _WORD.findall(rest)]
        words = {word: key.split() for word, key in pairs if word not in _MARKS}
        if by := words.pop("by", None):
            words |= {"map": by, "merge": by}
        owned = next((word for word in _OWNERSHIP if word in words), "")
        return Field(
            name,
            self._type(version, type_text or "string"),
            number=int(number),
            pointer=bool(pointer),
            always=bool(mark),
            required=(bool(mark) and "optional" not in words) or "required" in words,
            omit_zero="omitzero" in words,
            list_type=owned,
            map_keys=tuple(words.get("map", ())),
            merge_key=" ".join(words.get("merge", ())),
            strategies=frozenset(words) & {"merge", "replace", "retainKeys"},
            marks=tuple(Mark(word, argument) for word, argument in pairs if word in _MARKS),
        )

    def _type(self, version: str, text: str) -> Type:
        if text.startswith("[]"):
            element = self._type(version, text[2:])
            return ListType(element, f"[]{element.go}")
        if text.startswith("map["):
            key, _, value_text = text[4:].partition("]")
            value = self._type(version, value_text)
            return MapType(value, f"map[{self.named(version, key).go}]{value.go}")
        return self.named(version, text)

    def named(self, version: str, name: str) -> Type:
        """Return a type by its name in a group and version, in the core group or in meta; raises NotationError."""
        if name in _SCALARS:
            return _SCALARS[name]
        if "/" in name:
            version, _, name = name.rpartition(".")
        for place in (version, CORE, META):
            key = (place, name)
            if key in self._aliases:
                return self._alias(place, name)
            if key in self._types:
                return self._types[key]
            if key in self._declared:
                return self._shape(place, name)
        raise NotationError(f"{version}: {name} is not written down")

    def _alias(self, version: str, name: str) -> Type:
        inner = self._type(version, self._aliases[version, name])
        assert isinstance(inner, ListType | MapType)
        return replace(inner, go=f"{version.rpartition('/')[2]}.{name}")
