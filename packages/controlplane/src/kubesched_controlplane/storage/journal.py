"""Changes in SQLite, so that a store outlives its process.

    Store ──change──▶ one row, committed ──▶ applied, sent to the client and to watches
    rows, in the order of their versions ──▶ Store, with its objects and its history

The journal is the store: each change is a row, and the last row of an object is its state. Rows that are out of the
history are deleted in batches; a batch that is lost is determined anew from the rows at the next start.

A change is committed in the call that makes it, before the store in memory changes: a change that cannot be written is
refused and leaves no trace. A commit hands the row to the operating system and does not wait for the disk
(synchronous=NORMAL in WAL mode): the row outlives the process, however that ends. If the machine itself goes down,
the last changes can be missing; the state is then an earlier one, never a damaged one. Waiting for the disk would cost
every change a millisecond or more in the only thread.

While the database is open no other process can open it; this lock ends with the process.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from kubesched_controlplane.api.statuses import internal_error
from kubesched_controlplane.managed_fields.entries import Entry
from kubesched_controlplane.storage.errors import DataError
from kubesched_controlplane.storage.store import DELETED, Change, Stored
from kubesched_controlplane.storage.write_ahead_log import committed_pages

FORMAT = 1
# "kube", which marks a database of kubesched
APPLICATION = 0x6B756265
# seconds to wait for the lock, which another process may hold for a moment before it fails to open the database
PATIENCE = 0.5
# bytes to which the write-ahead log is cut after a checkpoint; loading a cluster may need more for a while
MOST_AHEAD = 16 * 1024 * 1024
# rows that are deleted at once
BATCH = 250
_TABLES = (
    """
    CREATE TABLE changes (
        version INTEGER PRIMARY KEY,
        store   TEXT NOT NULL,
        deleted INTEGER NOT NULL,
        object  BLOB NOT NULL
    )
    """,
    # the version up to which each set has dropped its history
    "CREATE TABLE forgotten (store TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
)
_INSERT = "INSERT INTO changes VALUES (?, ?, ?, ?)"
_DELETE = "DELETE FROM changes WHERE version = ?"
_FORGET = "INSERT INTO forgotten VALUES (?, ?) ON CONFLICT (store) DO UPDATE SET version = excluded.version"

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Stored).decode


class SqliteJournal:
    """Keeps the changes of a store in a file; raises DataError if the file cannot be opened or is not of kubesched."""

    def __init__(self, file: Path) -> None:
        self._file = file
        # rows to delete, and the version up to which each set has dropped its history
        self._unneeded: list[int] = []
        self._forgotten: dict[str, int] = {}
        # whether a `together` block is open, and the first failure in it
        self._block = False
        self._failure = ""
        try:
            # SQLite does not say why it cannot open a file, and makes new files readable for other users
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        except OSError as error:
            raise DataError(f"{file}: {error.strerror or error}") from None
        expected = committed_pages(file.with_name(f"{file.name}-wal"))
        with self._readable():
            self._database = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                self._open()
                self._check_log(expected)
            except BaseException:
                self._database.close()
                raise

    def _open(self) -> None:
        """Lock the database, check that it is of kubesched and not damaged, and create its tables if it is new."""
        execute = self._database.execute
        execute("PRAGMA locking_mode = EXCLUSIVE")
        application, number = (execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        empty = not execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != APPLICATION and not (empty and not application and not number):
            raise DataError(f"{self._file}: is a database, but none of kubesched")
        if number > FORMAT:
            raise DataError(
                f"{self._file}: was written by a newer kubesched, in format {number}; this one knows format {FORMAT}"
            )
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")
        execute(f"PRAGMA journal_size_limit = {MOST_AHEAD}")
        problem = execute("PRAGMA quick_check(1)").fetchone()[0]
        if problem != "ok":
            raise DataError(f"{self._file}: is damaged: {problem.splitlines()[-1]}")
        # written even if it exists, so that a read-only folder fails now
        with self._transaction():
            if empty:
                for table in _TABLES:
                    execute(table)
            execute(f"PRAGMA application_id = {APPLICATION}")
            execute(f"PRAGMA user_version = {FORMAT}")

    def _check_log(self, expected: int) -> None:
        """Raise DataError if SQLite read fewer pages of the write-ahead log than were committed; keep those it read."""
        if not expected:
            return
        _, pages, _ = self._database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if pages < expected or expected < 0:
            lost = "all of it" if expected < 0 or not pages else f"{expected - pages} of its {expected} pages"
            raise DataError(
                f"{self._file}-wal: is damaged: {lost} cannot be read, so the latest changes are lost; what can be "
                "read is kept now: start once more to go on without the rest"
            )

    # -- reading

    def forgotten(self) -> dict[str, int]:
        """Return the version up to which each set has dropped its history."""
        with self._readable():
            return dict(self._database.execute("SELECT store, version FROM forgotten"))

    def changes(self) -> Iterator[tuple[str, Stored, bool]]:
        """Yield the stored changes, oldest first: the set, the object, and whether it was deleted."""
        texts: dict[bytes, bytes] = {}
        with self._readable():
            for version, prefix, deleted, row in self._database.execute("SELECT * FROM changes ORDER BY version"):
                try:
                    stored = _decode(row)
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    raise DataError(f"{self._file}: is damaged: change {version}: {error}") from None
                yield prefix, _sharing(stored, texts), bool(deleted)

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn errors of SQLite into a DataError that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise DataError(f"{self._file}: {_reason(error)}") from None

    # -- writing

    def write(self, prefix: str, change: Change) -> None:
        """Write a change; raises ApiError if it cannot be written."""
        if len(self._unneeded) >= BATCH:
            self._take_out()
        failure = self._failure
        if not failure:
            row = (change.version, prefix, change.type == DELETED, _encode(change.new))
            try:
                self._database.execute(_INSERT, row)
                return
            except sqlite3.Error as error:
                failure = str(error)
        if self._block:
            self._failure = failure
        raise internal_error(f"the change could not be kept: {failure}")

    def forget(self, prefix: str, change: Change) -> None:
        """Drop a change that is out of the history, with the state before it."""
        if change.old is not None:
            self._unneeded.append(change.old.version)
        if change.type == DELETED:
            self._unneeded.append(change.version)
        self._forgotten[prefix] = change.version

    def _take_out(self) -> None:
        """Delete dropped rows; rows that cannot be deleted now are deleted later."""
        with suppress(sqlite3.Error):
            with self._transaction():
                self._database.executemany(_DELETE, [(version,) for version in self._unneeded])
                self._database.executemany(_FORGET, self._forgotten.items())
            self._unneeded.clear()
            self._forgotten.clear()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write all changes of a block or, if the block fails, none; after a failure the store must not be used."""
        with self._readable(), self._transaction():
            self._block = True
            try:
                yield
            finally:
                failure, self._block, self._failure = self._failure, False, ""
                if failure:
                    raise DataError(f"{self._file}: {failure}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run a block in a transaction, or in the open one if there is one."""
        database = self._database
        if database.in_transaction:
            yield
            return
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Delete the dropped rows and close the database."""
        if self._forgotten:
            self._take_out()
        self._database.close()


def _sharing(stored: Stored, texts: dict[bytes, bytes]) -> Stored:
    """Return the object with managedFields that share equal texts with other objects, to save memory."""
    if not stored.managed_fields:
        return stored
    managed_fields = tuple(
        Entry(entry.manager, entry.time, texts.setdefault(entry.text, entry.text)) for entry in stored.managed_fields
    )
    return msgspec.structs.replace(stored, managed_fields=managed_fields)


def _reason(error: sqlite3.Error) -> str:
    """Return the reason of a failure, with a remedy where SQLite's message has none."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "is in use by another process"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return f"is damaged: {error}"
    return str(error)
