"""A store that outlives its process: what happened is there again, whoever watched goes on, or it never happened."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.api import Asking, events_of, seen

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.storage import journal as journal_module
from kubesched_controlplane.storage.errors import DataError
from kubesched_controlplane.storage.journal import SqliteJournal
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport.local_client import LocalClient

PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
POD: Document = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


class Kept:
    """A file, and the server whose store is kept in it."""

    def __init__(self, file: Path, history: int = 100) -> None:
        self._file = file
        self._history = history
        self.open()

    def open(self) -> None:
        self.journal = SqliteJournal(self._file)
        self.store = Store(self._history, self.journal)
        server = ApiServer(access=always_allow, seed=1, store=self.store)
        bootstrap(LocalClient(server, ADMINISTRATOR))
        self.api = Asking(server)

    def reopen(self) -> None:
        """End and begin again."""
        self.journal.close()
        self.open()

    def killed(self, file: Path) -> Store:
        """Return the store that would be there if the process were killed now."""
        for end in ("", "-wal"):
            left = Path(f"{self._file}{end}")
            if left.exists():
                shutil.copy(left, f"{file}{end}")
        journal = SqliteJournal(file)
        try:
            return Store(self._history, journal)
        finally:
            journal.close()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    found = Kept(tmp_path / "state.db")
    yield found
    found.journal.close()


def contents(store: Store) -> Any:
    """Return everything that can be asked of a store: its version, objects, and what happened to them."""
    sets = {
        name: (
            objects.in_order(),
            objects.forgotten,
            [(change.type, change.new, change.old) for change in objects.since(0)],
        )
        for name, objects in sorted(store._sets.items())
        if len(objects) or objects.forgotten or objects.since(0)
    }
    return store.version, sets


def rows(journal: SqliteJournal) -> int:
    """Return how many changes are kept."""
    return len(list(journal.changes()))


# -- every kind of change


def _status(api: Asking) -> None:
    pod = api.ok("POST", PODS, POD)
    api.ok("PUT", f"{PODS}/p/status", {**pod, "status": {"phase": "Running", "podIP": "10.0.0.1"}})


def _finalizer(api: Asking) -> None:
    api.ok("POST", MAPS, {"metadata": {"name": "m", "finalizers": ["example.com/wait"]}})
    api.ok("DELETE", f"{MAPS}/m")
    api.ok("POST", MAPS, {"metadata": {"name": "n", "finalizers": ["example.com/wait"]}})
    api.ok("DELETE", f"{MAPS}/n")
    api.ok("PATCH", f"{MAPS}/n", {"metadata": {"finalizers": None}}, MERGE)


def _grace(api: Asking) -> None:
    api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    api.ok("POST", PODS, {**POD, "spec": {**POD["spec"], "nodeName": "n1"}})
    api.ok("DELETE", f"{PODS}/p")


def _binding(api: Asking) -> None:
    api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    api.ok("POST", PODS, POD)
    api.ok("POST", f"{PODS}/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}})


def _eviction(api: Asking) -> None:
    api.ok("POST", PODS, {**POD, "metadata": {"name": "p", "labels": {"app": "a"}}})
    api.ok("POST", f"{PODS}/p/eviction", {"metadata": {"name": "p"}})


def _again(api: Asking) -> None:
    for number in range(3):
        api.ok("POST", MAPS, {"metadata": {"name": "m"}, "data": {"number": str(number)}})
        if number < 2:
            api.ok("DELETE", f"{MAPS}/m")


def _labels(api: Asking) -> None:
    api.ok("POST", MAPS, {"metadata": {"name": "m", "labels": {"app": "x"}}})
    api.ok("PATCH", f"{MAPS}/m", {"metadata": {"labels": {"app": "y"}}}, MERGE)
    api.ok("PATCH", f"{MAPS}/m", {"metadata": {"labels": None}}, MERGE)


def _collection(api: Asking) -> None:
    for number in range(5):
        api.ok("POST", MAPS, {"metadata": {"name": f"m{number}", "labels": {"odd": str(number % 2)}}})
    api.ok("DELETE", MAPS, labelSelector="odd=1")


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(lambda api: None, id="what every cluster begins with"),
        pytest.param(lambda api: api.ok("POST", PODS, POD), id="an object is created"),
        pytest.param(lambda api: api.ok("POST", MAPS, {"metadata": {"generateName": "m-"}}), id="with a name made up"),
        pytest.param(
            lambda api: api.ok("POST", MAPS, {"metadata": {"name": "m"}, "data": {"text": "日本\u0000😀"}}), id="text"
        ),
        pytest.param(
            lambda api: api.ok("POST", MAPS, {"metadata": {"name": "m"}, "data": {"x": "y" * 900_000}}), id="size"
        ),
        pytest.param(_status, id="its status is written"),
        pytest.param(_labels, id="its labels change"),
        pytest.param(_finalizer, id="it waits for a finalizer"),
        pytest.param(_grace, id="it is terminating"),
        pytest.param(_binding, id="it is bound"),
        pytest.param(_eviction, id="it is evicted"),
        pytest.param(_again, id="it is deleted, and there again"),
        pytest.param(_collection, id="many are deleted"),
    ],
)
def test_everything_is_there_again(story: Callable[[Asking], object], kept: Kept, tmp_path: Path) -> None:
    story(kept.api)
    before = contents(kept.store)
    assert contents(kept.killed(tmp_path / "killed.db")) == before
    kept.reopen()
    assert contents(kept.store) == before, "and what every cluster begins with is not made twice"


def test_owners_of_fields_are_there_again(kept: Kept) -> None:
    map_ = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"x": "1"}}
    kept.api.ok("POST", MAPS, map_, fieldManager="somebody")
    before = kept.api.ok("GET", f"{MAPS}/m")
    assert [entry["manager"] for entry in before["metadata"]["managedFields"]] == ["somebody"]
    kept.reopen()
    assert kept.api.ok("GET", f"{MAPS}/m") == before


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("ab"), st.sampled_from("wxyz")),
        st.tuples(st.just("remove"), st.sampled_from("ab"), st.sampled_from("wxyz")),
        st.tuples(st.just("forget"), st.sampled_from("ab"), st.just("")),
        st.tuples(st.just("reopen"), st.just(""), st.just("")),
    ),
    max_size=60,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, history=st.integers(1, 6), batch=st.integers(1, 5))
def test_any_history_is_there_again(
    steps: list[tuple[str, str, str]], history: int, batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "BATCH", batch)
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    file = folder / "state.db"
    journal = SqliteJournal(file)
    try:
        store = Store(history, journal)
        for number, (step, set_, name) in enumerate(steps):
            before = contents(store)
            found = store.get(set_, "", name) if name else None
            if step == "put":
                store.put(set_, {"metadata": {"name": name, "uid": str(number)}}, {"number": str(number)})
            elif step == "remove" and found is not None:
                store.remove(set_, found)
            elif step == "forget":
                store.set_of(set_).forget_history()
            elif step == "reopen":
                journal.close()
                journal = SqliteJournal(file)
                store = Store(history, journal)
                assert contents(store) == before
            assert store.version >= before[0]
    finally:
        journal.close()
    live = sum(len(store.set_of(name)) for name in "ab")
    journal = SqliteJournal(file)
    try:
        # an object, and for each change that is remembered at most what was before and that it is gone
        assert rows(journal) <= live + 2 * 2 * history
    finally:
        journal.close()


# -- versions and watches


def test_versions_go_on(kept: Kept) -> None:
    kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})
    kept.api.ok("DELETE", f"{MAPS}/m")
    last = kept.store.version
    kept.store.set_of("configmaps").forget_history()
    kept.reopen()
    assert kept.store.version == last, "also if nothing is left of the last change"
    assert kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})["metadata"]["resourceVersion"] == str(last + 1)


def test_uids_do_not_come_again_with_the_seed(kept: Kept) -> None:
    first = kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})["metadata"]["uid"]
    kept.reopen()
    kept.api.ok("POST", MAPS, {"metadata": {"name": "n"}})
    uids = [stored.uid for objects in kept.store._sets.values() for stored in objects]
    assert len(set(uids)) == len(uids)
    assert first in uids


def test_a_watch_resumes_with_what_it_missed(kept: Kept) -> None:
    kept.api.ok("POST", MAPS, {"metadata": {"name": "a", "labels": {"app": "x"}}})
    version = kept.api.ok("GET", MAPS)["metadata"]["resourceVersion"]
    kept.api.ok("POST", MAPS, {"metadata": {"name": "b", "labels": {"app": "x"}}})
    kept.api.ok("PATCH", f"{MAPS}/a", {"metadata": {"labels": {"app": "y"}}}, MERGE)
    missed = events_of(kept.api.watch(MAPS, resourceVersion=version, labelSelector="app=x"))
    kept.reopen()
    watch = kept.api.watch(MAPS, resourceVersion=version, labelSelector="app=x")
    assert events_of(watch) == missed
    assert [(kind, found["metadata"]["name"]) for kind, found in missed] == [("ADDED", "b"), ("DELETED", "a")]
    kept.api.ok("DELETE", f"{MAPS}/b")
    assert seen(watch) == [("DELETED", "b")]


def test_a_watch_from_before_history_is_too_old(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "state.db", history=5)
    version = kept.api.ok("GET", MAPS)["metadata"]["resourceVersion"]
    for number in range(10):
        kept.api.ok("POST", MAPS, {"metadata": {"name": f"m{number}"}})
    forgotten = kept.store.set_of("configmaps").forgotten
    kept.reopen()
    (kind, status), *more = events_of(kept.api.watch(MAPS, resourceVersion=version))
    assert (kind, status["code"], status["reason"], more) == ("ERROR", 410, "Expired", [])
    assert len(events_of(kept.api.watch(MAPS, resourceVersion=str(forgotten)))) == 5
    kept.journal.close()


def test_pages_go_on_with_the_moment_of_the_first(kept: Kept) -> None:
    for number in range(5):
        kept.api.ok("POST", MAPS, {"metadata": {"name": f"m{number}"}})
    first = kept.api.ok("GET", MAPS, limit="2")
    kept.api.ok("DELETE", f"{MAPS}/m3")
    kept.api.ok("POST", MAPS, {"metadata": {"name": "m3-late"}})
    kept.reopen()
    second = kept.api.ok("GET", MAPS, **{"limit": "2", "continue": first["metadata"]["continue"]})
    third = kept.api.ok("GET", MAPS, **{"continue": second["metadata"]["continue"]})
    names = [item["metadata"]["name"] for page in (first, second, third) for item in page["items"]]
    assert names == ["m0", "m1", "m2", "m3", "m4"]
    kept.store.set_of("configmaps").forget_history()
    kept.reopen()
    assert kept.api.refused("GET", MAPS, **{"continue": first["metadata"]["continue"]})[:2] == (410, "Expired")


def test_what_history_forgets_is_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "BATCH", 10)
    kept = Kept(tmp_path / "state.db", history=5)
    kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})
    before = rows(kept.journal)
    for number in range(200):
        kept.api.ok("PATCH", f"{MAPS}/m", {"data": {"number": str(number)}}, MERGE)
    assert rows(kept.journal) < before + 25
    kept.journal.close()


# -- what cannot be kept


def fill_up(kept: Kept) -> None:
    """Let there be no more room."""
    pages = kept.journal._database.execute("PRAGMA page_count").fetchone()[0]
    kept.journal._database.execute(f"PRAGMA max_page_count = {pages}")


def test_what_cannot_be_kept_has_never_been(kept: Kept) -> None:
    kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})
    watch = kept.api.watch(MAPS)
    assert ("ADDED", "m") in seen(watch)
    before = contents(kept.store)
    fill_up(kept)
    large = {"metadata": {"name": "n"}, "data": {"x": "y" * 100_000}}
    code, reason, message = kept.api.refused("POST", MAPS, large)
    assert (code, reason) == (500, "InternalError")
    assert message == "Internal error occurred: the change could not be kept: database or disk is full"
    assert kept.api.refused("PATCH", f"{MAPS}/m", {"data": large["data"]}, MERGE)[0] == 500
    assert contents(kept.store) == before
    assert (seen(watch), kept.api.refused("GET", f"{MAPS}/n")[0]) == ([], 404)
    kept.journal._database.execute("PRAGMA max_page_count = 1000000")
    kept.api.ok("POST", MAPS, large)
    assert (kept.store.version, seen(watch)) == (before[0] + 1, [("ADDED", "n")])
    before = contents(kept.store)
    kept.reopen()
    assert contents(kept.store) == before


def test_what_cannot_be_taken_out_stays(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "BATCH", 1)
    kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})
    kept.api.ok("DELETE", f"{MAPS}/m")
    kept.store.set_of("configmaps").forget_history()
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "_DELETE", "DELETE FROM nowhere WHERE version = ?")
        kept.api.ok("POST", MAPS, {"metadata": {"name": "n"}})
        assert kept.journal._unneeded
    kept.api.ok("POST", MAPS, {"metadata": {"name": "o"}})
    assert not kept.journal._unneeded
    before = contents(kept.store)
    kept.reopen()
    assert contents(kept.store) == before


def test_a_block_that_fails_leaves_nothing(kept: Kept) -> None:
    before = contents(kept.store)

    def fail() -> None:
        with kept.store.together():
            kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fail()
    kept.reopen()
    assert contents(kept.store) == before
    with kept.store.together():
        kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})
    kept.reopen()
    kept.api.ok("GET", f"{MAPS}/m")


def test_a_block_with_something_that_cannot_be_kept_leaves_nothing(kept: Kept) -> None:
    before = contents(kept.store)
    fill_up(kept)

    def fail() -> None:
        with kept.store.together():
            for number in range(3):
                document = {"metadata": {"name": f"m{number}"}, "data": {"x": "y" * 100_000}}
                assert kept.api.ask("POST", MAPS, document)[0] == 500

    with pytest.raises(DataError, match=r"state\.db: database or disk is full$"):
        fail()
    kept.reopen()
    assert contents(kept.store) == before


# -- files that cannot be used


def _newer(file: Path) -> None:
    with_database(file, "PRAGMA user_version = 7")


def _other(file: Path) -> None:
    with_database(file, "PRAGMA application_id = 1")


def _garbage(file: Path) -> None:
    file.write_bytes(b"this is no database, " * 1000)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20_000])


def _damaged_page(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192:12288] = b"\xff" * 4096
    file.write_bytes(content)


def _damaged_row(file: Path) -> None:
    with_database(file, "UPDATE changes SET object = x'c1' WHERE version = 3")


def _no_tables(file: Path) -> None:
    with_database(file, "DROP TABLE changes")


def with_database(file: Path, statement: str) -> None:
    journal = SqliteJournal(file)
    journal._database.execute(statement)
    journal.close()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (_newer, "was written by a newer kubesched, in format 7; this one knows format 1"),
        (_other, "is a database, but none of kubesched"),
        (_garbage, "is damaged: file is not a database"),
        (_cut, "is damaged: database disk image is malformed"),
        (_damaged_page, "is damaged: "),
        (_damaged_row, "is damaged: change 3: "),
        (_no_tables, "no such table: changes"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(harm: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    Kept(file).journal.close()
    harm(file)
    with pytest.raises(DataError) as raised, closing(SqliteJournal(file)) as journal:
        Store(100, journal)
    assert str(raised.value).startswith(f"{file}: {words}")
    assert "\n" not in str(raised.value)


def test_a_file_has_one_user_at_a_time(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "PATIENCE", 0.0)
    with pytest.raises(DataError, match=r"state\.db: is in use by another process$"):
        SqliteJournal(tmp_path / "state.db")
    kept.api.ok("POST", MAPS, {"metadata": {"name": "m"}})
