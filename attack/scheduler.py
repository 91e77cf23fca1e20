"""The secure port of `kubesched run`, its configuration file, and the process itself."""

import os
import signal
import time

from attack.attacks import attack, expect
from attack.processes import until
from attack.targets import Scheduler

HIDDEN = ("/metrics", "/configz", "/debug/pprof/", "/debug/queue", "/debug/decisions", "/metrics/resources")


@attack(Scheduler)
def pages_without_rights(scheduler: Scheduler) -> str:
    """Somebody without rights reads metrics, the configuration and the queue."""
    found = [scheduler.pages.ask("GET", path, token=token)[0] for path in HIDDEN for token in ("", "wrong")]
    expect(set(found) <= {401, 403, 404}, f"{found}")
    return f"{sorted(set(found))}"


@attack(Scheduler)
def silent_connections(scheduler: Scheduler) -> str:
    """Somebody holds 300 connections and says nothing: health is answered."""
    with scheduler.pages.many(300) as held:
        expect(scheduler.pages.ask("GET", "/healthz")[0] == 200, "health is not answered")
        return f"{len(held)} connections"


@attack(Scheduler)
def floods_of_headers(scheduler: Scheduler) -> str:
    """Somebody begins 200 requests with 100 kB of headers each, and ends none: health is answered."""
    data = b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 50_000 + b"\r\nY: " + b"a" * 50_000
    with scheduler.pages.many(200, data) as held:
        expect(scheduler.pages.ask("GET", "/healthz")[0] == 200, "health is not answered")
        return f"{len(held)} connections"


@attack(Scheduler)
def hostile_configurations(scheduler: Scheduler) -> str:
    """The file of --reload becomes empty, binary, deep, endless, a pipe, a folder: the last good one stays in force."""
    file = scheduler.config
    contents = (b"", b"\0\xff" * 5000, b"[" * 50_000, b"a: &a [*a]", b"profiles: [", b"x" * 20_000_000)
    try:
        for content in contents:
            file.write_bytes(content)
            _reread(scheduler)
        for make in (
            os.mkfifo,
            os.mkdir,
            lambda path: os.symlink("/dev/zero", path),
            lambda path: os.symlink(path, path),
        ):
            _remove(file)
            make(file)
            _reread(scheduler)
    finally:
        _remove(file)
        scheduler.write_config("")
    _reread(scheduler)
    return f"{len(contents) + 4} files"


@attack(Scheduler)
def thousands_of_profiles(scheduler: Scheduler) -> str:
    """The file of --reload gets 3000 profiles: it is refused, and the loop does not stand still."""
    profiles = "".join(f"- {{schedulerName: p{number}}}\n" for number in range(3000))
    said = scheduler.scheduler.text.count("Configuration refused")
    scheduler.write_config(f"profiles:\n{profiles}")
    scheduler.scheduler.signal(signal.SIGHUP)
    scheduler.serve_owner()
    until(lambda: scheduler.scheduler.text.count("Configuration refused") > said, "it is refused", 90)
    scheduler.write_config("")
    _reread(scheduler)
    expect("stood still" not in scheduler.scheduler.text, "the loop stood still")
    return "refused"


def _reread(scheduler: Scheduler) -> None:
    scheduler.scheduler.signal(signal.SIGHUP)
    time.sleep(0.5)
    scheduler.serve_owner()


def _remove(file: os.PathLike[str]) -> None:
    if os.path.isdir(file) and not os.path.islink(file):
        os.rmdir(file)
    elif os.path.lexists(file):
        os.unlink(file)
