"""`make upstream`: facts of upstream's files, made up here, against ours."""

import subprocess
from pathlib import Path

import pytest

from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.notation import Library
from kubesched_controlplane.schema.shapes import Shape
from tools.upstream import flags, gates, go_types, marks, metrics, openapi, protobuf, resources, roles
from tools.upstream.__main__ import our_marks
from tools.upstream.packages import package_of
from tools.upstream.report import Section, differences
from tools.upstream.sources import Checkout, Revision, Source, SourceError, open_source

META = "staging/src/k8s.io/apimachinery/pkg/apis/meta/v1"
GO = """
import (
	other "k8s.io/api/coordination/v1"
)

type Colour string
type Paints map[string]Paint

// Thing has a story that is not read.
// +structType=atomic
type Thing struct {
	metav1.TypeMeta `json:",inline"`
	// A sentence.
	// +optional
	// +listType=map
	// +listMapKey=name
	Parts []Part `json:"parts,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,4,rep,name=parts"`
	Size *int32 `json:"size,omitempty" protobuf:"varint,2,opt,name=size"`
	// +required
	Name string `json:"name,omitempty" protobuf:"bytes,3,opt,name=name"`
	Must string `json:"must" protobuf:"bytes,5,opt,name=must"`
	Paints Paints `json:"paints,omitempty" protobuf:"bytes,6,rep,name=paints"`
	Strategy other.CoordinatedLeaseStrategy `json:"strategy,omitempty" protobuf:"bytes,7,opt,name=strategy"`
	Part `json:",inline" protobuf:"bytes,8,opt,name=part"`
	Hidden string `json:"-"`
}

type Empty struct{}
"""


class Files(Source):
    """Files that are made up, by their paths."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def read(self, path: str) -> str | None:
        return self.texts.get(path)

    def paths(self) -> tuple[str, ...]:
        return tuple(self.texts)


def test_differences_go_into_mappings() -> None:
    found = list(differences({"a": {"x": 1, "y": 2}, "b": 1}, {"a": {"x": 1, "y": 3}, "c": 4}))
    assert found == ["a.y: 2 here, 3 upstream", "b: not upstream", "c: missing here, upstream 4"]


def test_known_differences_are_counted_and_not_listed() -> None:
    section = Section("things", 3, ["AllBeta: not upstream", "Gate: not upstream"], ["more"])
    assert list(section.lines()) == [
        "== things: 3 compared, 1 different, 1 known to differ",
        "   Gate: not upstream",
        "   only upstream (1): more",
    ]


# -- types


def test_a_go_struct_in_the_notation() -> None:
    found = {each.name: go_types.declaration(each, False) for each in go_types.structs(GO)}
    assert found == {
        "Thing": "Thing atomic: +TypeMeta, parts=4 []Part by(name), size=2 *int32, name=3 string required, must=5!\n"
        "    paints=6 map[string]Paint, strategy=7 coordination.k8s.io/v1.CoordinatedLeaseStrategy, +Part=8",
        "Empty": "Empty:",
    }


def test_marks_are_kept_when_a_type_is_written_again() -> None:
    shape = library().named("networking.k8s.io/v1", "IngressClassSpec")
    assert isinstance(shape, Shape)
    text = """
type IngressClassSpec struct {
	Controller string `json:"controller,omitempty" protobuf:"bytes,1,opt,name=controller"`
	Colour string `json:"colour,omitempty" protobuf:"bytes,3,opt,name=colour"`
}
"""
    (struct,) = go_types.structs(text)
    assert go_types.declaration(struct, False, shape.fields) == (
        "IngressClassSpec: controller=1 string nonempty length(250) format(domainpath) immutable, colour=3"
    )


def test_every_marked_type_survives_being_written() -> None:
    long = "f=1 string nonempty(" + "a word and " * 5 + "an end) max(10 " + "must not " * 7 + "be more)"
    shapes = Library((("v1", f"Thing: {long}"),))
    (thing,) = shapes.shapes()
    struct = go_types.GoStruct(
        "Thing", False, (go_types.GoField("string", "string", {"json": "f", "protobuf": "b,1"}, {}),)
    )
    text = go_types.declaration(struct, False, thing.fields)
    assert max(map(len, text.splitlines())) <= 118
    (again,) = Library((("v1", text),)).shapes()
    assert again.fields["f"].marks == thing.fields["f"].marks


def test_a_declaration_is_replaced_where_it_stands() -> None:
    text = "\nFirst: a=1\n    b=2\nThing kind: c=2\n    d=3\nLast: e=1\n"
    assert go_types.replaced(text, "Thing", "Thing: f=4") == "\nFirst: a=1\n    b=2\nThing: f=4\nLast: e=1\n"


def test_types_that_differ_are_named_with_their_notation() -> None:
    text = """
type Preconditions struct {
	UID *types.UID `json:"uid,omitempty" protobuf:"bytes,1,opt,name=uid"`
	Mood *Mood `json:"mood,omitempty" protobuf:"bytes,3,opt,name=mood"`
}

type Mood string
"""
    section, changed = go_types.compare(Files({f"{META}/types.go": text}))
    assert [line for line in section.differences if "Preconditions" in line] == [
        "meta.k8s.io/v1 Preconditions.resourceVersion: not upstream",
        "meta.k8s.io/v1 Preconditions.mood: missing here, upstream 3 *v1.Mood",
    ]
    assert changed == {("meta.k8s.io/v1", "Preconditions"): "Preconditions: uid=1 *UID, mood=3 *Mood\nstring: Mood"}


def test_both_editions_of_openapi_say_the_same() -> None:
    number = {"type": "integer", "format": "int32"}
    second = {"properties": {"a": {"$ref": "#/definitions/A", "description": "?"}, "b": number}}
    third = {"properties": {"a": {"allOf": [{"$ref": "#/components/schemas/A"}], "default": {}}, "b": number}}
    assert openapi.facts(second) == openapi.facts(third)
    assert openapi.facts(second)["fields"] == {"a": "A", "b": "int32"}


def test_openapi_names_what_differs() -> None:
    name = "io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions"
    text = f'{{"definitions": {{"{name}": {{"properties": {{"uid": {{"type": "string"}}}}, "required": ["uid"]}}}}}}'
    found = openapi.compare(Files({openapi.SECOND_EDITION: text})).differences
    assert f"{name}.fields.resourceVersion: not upstream" in found
    assert f"{name}.required: [] here, ['uid'] upstream" in found


def test_numbers_of_messages() -> None:
    text = """
message Preconditions {
  // a sentence
  optional string uid = 1;

  repeated string resourceVersion = 7;
  map<string, Thing> more = 9;
}
"""
    assert protobuf.messages(text) == {"Preconditions": {1: "uid", 7: "resourceVersion", 9: "more"}}
    found = protobuf.compare(Files({f"{META}/generated.proto": text}))
    assert found.compared == 1
    assert found.differences == [
        "meta.k8s.io/v1 Preconditions.2: not upstream",
        "meta.k8s.io/v1 Preconditions.7: missing here, upstream 'resourceversion'",
        "meta.k8s.io/v1 Preconditions.9: missing here, upstream 'more'",
    ]


def test_every_type_has_a_package() -> None:
    found = {package_of(shape.api_version) for shape in library().shapes()}
    assert {META, "staging/src/k8s.io/api/rbac/v1", "staging/src/k8s.io/api/core/v1"} <= found


# -- the other tables


def test_resources_with_their_subresources() -> None:
    text = """{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": "pods/status", "kind": "Pod", "namespaced": true, "verbs": ["get"]},
        {"name": "pods", "kind": "Pod", "namespaced": true, "verbs": ["list", "get"], "shortNames": ["po"]}]}"""
    found = resources.recorded(text)
    assert found["v1 pods"]["verbs"] == ["get", "list"]
    assert found["v1 pods"]["subresources"] == {"status": ["get"]}
    section = resources.compare(Files({"api/discovery/api__v1.json": text}))
    assert "v1 pods.subresources.binding: not upstream" in section.differences
    assert "apps/v1 deployments: not upstream" in section.differences


GATES = """
- name: NewGate
  versionedSpecs:
  - {default: false, lockToDefault: false, preRelease: Alpha, version: "1.37"}
- name: SchedulerPopFromBackoffQ
  versionedSpecs:
  - {default: true, lockToDefault: true, preRelease: GA, version: "1.37"}
"""
CLIENT_GATES = """
	WatchListClient: {
		{Version: version.MustParse("1.30"), Default: false, PreRelease: Beta},
		{Version: version.MustParse("1.37"), Default: true, LockToDefault: true, PreRelease: GA},
	},
"""


def test_gates_by_version() -> None:
    source = Files({gates.LISTS[0]: GATES, gates.CLIENT: CLIENT_GATES})
    found = gates.compare(source, {"Unlisted"}).differences
    assert "NewGate: missing here, upstream '1.37 alpha off'" in found
    assert "SchedulerPopFromBackoffQ: '1.33 beta on' here, '1.37 ga on locked' upstream" in found
    assert "Unlisted: in the help text, not in upstream's list" in found
    renewed = gates.regenerate(source)
    assert '"NewGate":[{"default":false,"lockToDefault":false,"stage":"ALPHA","version":"1.37"}]' in renewed
    assert '"WatchListClient":[{' in renewed
    assert '"AllAlpha"' in renewed


def test_gates_of_the_client() -> None:
    found = gates.client_specs(CLIENT_GATES)
    assert {name: gates.shown(specs) for name, specs in found.items()} == {
        "WatchListClient": "1.30 beta off, 1.37 ga on locked"
    }


def test_dependencies_of_gates() -> None:
    text = """
var dependencies = map[featuregate.Feature][]featuregate.Feature{
	Alone: {},

	First: {genericfeatures.Second, Third},

	Fourth: {featuregate.Feature(clientfeatures.Fifth)},
}
"""
    assert gates.upstream_dependencies(text) == {"First": ["Second", "Third"], "Fourth": ["Fifth"]}


def test_metrics_of_the_component_alone() -> None:
    text = """
- {name: wonders_total, subsystem: scheduler, type: Counter, stabilityLevel: ALPHA, labels: [b, a],
   componentEndpoints: [{component: kube-scheduler, endpoint: /metrics}]}
- {name: others_total, type: Counter, stabilityLevel: ALPHA}
- {name: schedule_attempts_total, subsystem: scheduler, type: Counter, stabilityLevel: BETA, labels: [result, profile]}
"""
    section = metrics.compare(Files({metrics.LISTS[0]: text}))
    assert section.compared == 1
    assert section.differences == [
        "scheduler_schedule_attempts_total.stability: 'STABLE' here, 'BETA' upstream",
        "scheduler_wonders_total: missing here, upstream "
        "{'type': 'counter', 'labels': ['a', 'b'], 'buckets': [], 'stability': 'ALPHA'}",
    ]


def test_roles_grant_one_thing_at_a_time() -> None:
    rule = {"verbs": ["get", "list"], "apiGroups": ["", "apps"], "resources": ["things"], "resourceNames": ["a"]}
    role = {"kind": "ClusterRole", "metadata": {"name": "reader"}, "rules": [rule]}
    binding = {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "readers"},
        "roleRef": {"name": "reader"},
        "subjects": [{"kind": "User", "name": "me"}],
    }
    assert roles.facts([role, binding]) == {
        "ClusterRole reader": {"get things. a", "get things.apps a", "list things. a", "list things.apps a"},
        "ClusterRoleBinding readers": {"role reader", "subject User me"},
    }


HELP = """
Misc flags:

      --config string     The path.
      --ports strings     Several lines of
                          description. (default [a,b])
  -v, --v Level           number

Other flags:

      --careful           Be so. (default true)
      --feature-gates mapStringBool   Gates:
                          kube:SomeGate=true|false (ALPHA - default=false)
"""


def test_flags_of_a_help_text() -> None:
    assert flags.flags_of(HELP) == {
        "config": {"group": "misc", "type": "string", "short": "", "default": ""},
        "ports": {"group": "misc", "type": "strings", "short": "", "default": "a,b"},
        "v": {"group": "misc", "type": "Level", "short": "v", "default": ""},
        "careful": {"group": "other", "type": "bool", "short": "", "default": "true"},
        "feature-gates": {"group": "other", "type": "mapStringBool", "short": "", "default": ""},
    }
    assert flags.gates_of(HELP) == {"SomeGate"}
    found = flags.compare(HELP).differences
    assert not [line for line in found if line.startswith("config")]
    assert "secure-port: not upstream" in found


# -- marks and sources


def test_the_marks_of_all_distributions_are_read() -> None:
    places = [mark.place for mark in our_marks()]
    assert len(places) > 300
    assert {place.partition("/")[0] for place in places} >= {"kubesched", "kubesched_controlplane", "kubesched_contrib"}


def test_marks_name_files(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "# upstream: pkg/a/{b,c}.go, d.go, volumes/plugin.go\n"
        "# (Filter), api/x/{v1,\n"
        "# v2}/types.go (v1.36)\n"
        "# another comment pkg/z.go\n"
        "x = 1  # upstream: cel-go checker/env.go (v0.26)\n"
    )
    (tmp_path / "two.py").write_text("# upstream: component-base/version (v1.36)\n")
    found = marks.marks_in(tmp_path)
    assert [mark.place for mark in found] == ["one.py:1", "one.py:5", "two.py:1"]
    assert found[0].paths == (
        "pkg/a/b.go",
        "pkg/a/c.go",
        "pkg/a/d.go",
        "volumes/plugin.go",
        "api/x/v1/types.go",
        "api/x/v2/types.go",
    )
    assert found[1].paths == ()


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("api/core/v1/types.go", "staging/src/k8s.io/api/core/v1/types.go", True),
        ("core/v1/types.go", "staging/src/k8s.io/api/notcore/v1/types.go", False),
        ("component-base/version", "staging/src/k8s.io/component-base/version/dynamic.go", True),
        ("component-base/version", "staging/src/k8s.io/component-base/version/verflag/verflag.go", False),
        ("registry/rbac/*/policybased/storage.go", "pkg/registry/rbac/role/policybased/storage.go", True),
    ],
)
def test_which_files_a_name_stands_for(name: str, path: str, expected: bool) -> None:
    assert marks.names(name, path) is expected


def git(directory: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(directory), *identity, *arguments], check=True, capture_output=True)


def test_files_that_changed_between_two_revisions(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "pkg").mkdir()
    for name in ("a.go", "b.go", "a_test.go"):
        (tmp_path / "pkg" / name).write_text("first")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "tag", "v1")
    (tmp_path / "pkg/a.go").write_text("second")
    (tmp_path / "pkg/a_test.go").write_text("second")
    git(tmp_path, "commit", "-qam", "second")
    git(tmp_path, "tag", "v2")
    newer = Revision(tmp_path, "v2")
    assert newer.read("pkg/a.go") == "second"
    assert newer.read("pkg/none.go") is None
    assert newer.matching("pkg/*.go") == ["pkg/a.go", "pkg/a_test.go", "pkg/b.go"]
    named = [marks.Mark("x.py:1", ("pkg/a.go", "pkg/b.go")), marks.Mark("y.py:2", ("pkg",))]
    assert marks.changed(named, newer, "v1") == {"pkg/a.go": ["x.py:1", "y.py:2"]}
    with pytest.raises(SourceError):
        Revision(tmp_path, "v3")


def test_a_directory_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no checkout of kubernetes"):
        open_source(tmp_path)
    (tmp_path / "staging/src/k8s.io").mkdir(parents=True)
    (tmp_path / "one").write_text("1")
    source = Checkout(tmp_path)
    assert (source.read("one"), source.read("two"), source.paths()) == ("1", None, ("one",))
    with pytest.raises(SourceError, match="none of two, three"):
        source.first("two", "three")
