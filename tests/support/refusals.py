"""The corpus of refusals: requests with the answers of a real API server, and the answers of the embedded one.

From lines of `packages/controlplane/tests/data/refusals.jsonl.gz` (its README has their fields) to pairs of answers.
"""

import gzip
import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.support.good_objects import an_api, put

Document = dict[str, Any]
CORPUS = Path(__file__).parents[2] / "packages/controlplane/tests/data" / "refusals.jsonl.gz"
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WARNING = re.compile(r'299 - "((?:[^"\\]|\\.)*)"')
_JSON, _JSON_PATCH = "application/json", "application/json-patch+json"


# a dump of what is different, in the form of diff
_DIFF = re.compile(r"\n?@@.*(\n[ +-].*)*\n*")
_VALUE = re.compile(r"value: (?=[{\[]|null\b)")
# names that begin with the prefixes of the corpus
_GENERATED = re.compile(r'"(Bad_|a-|a\.)[a-z0-9]{5}"')
_PATCHED = re.compile(r'patch: Invalid value: "(?:[^"\\]|\\.)*"')


class Answer(NamedTuple):
    """The code, the message of a refusal and the warnings."""

    code: int
    message: str = ""
    warnings: tuple[str, ...] = ()


class Case(NamedTuple):
    """A request in a few words, with the answers of both servers."""

    words: str
    reference: Answer
    ours: Answer


def compared() -> Iterator[Case]:
    """Yield all cases; every request is a dry run on the same few objects."""
    api = an_api()
    api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "kube-public"}})
    bases: dict[str, Document] = {}
    given: dict[str, str] = {}
    for text in gzip.decompress(CORPUS.read_bytes()).splitlines():
        line = msgspec.json.decode(text)
        if "given" in line:
            api.ok("POST", line["path"], line["object"])
            given[line["given"]] = f"{line['path']}/{line['object']['metadata']['name']}"
        elif "base" in line:
            bases[line["base"]] = line
        else:
            method, path, body = _request(line, bases, given)
            form = _JSON_PATCH if method == "PATCH" else _JSON
            query = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "t"}
            found = api.raw(method, path, msgspec.json.encode(body), form, **query)
            message = found.document()["message"] if found.code >= 400 else ""
            warnings = tuple(_WARNING.findall(found.headers.get("Warning", "")))
            expected = Answer(line["code"], _masked(line.get("message", "")), tuple(line.get("warnings", ())))
            yield Case(_words(line), expected, Answer(found.code, _masked(message), warnings))


def _masked(message: str) -> str:
    """Return a message without UIDs and without the contents of objects and lists, which both servers dump."""
    message = _GENERATED.sub(r'"\1<suffix>"', message)
    message = _PATCHED.sub("patch: Invalid value: <object>", _DIFF.sub("", _UID.sub("<uid>", message)))
    at = 0
    while found := _VALUE.search(message, at):
        start = found.end()
        try:
            end = JSONDecoder().raw_decode(message, start)[1]
        except JSONDecodeError:
            end = start
        message = f"{message[:start]}<dump>{message[end:]}"
        at = start
    return message


def _request(line: Document, bases: dict[str, Document], given: dict[str, str]) -> tuple[str, str, Any]:
    """Return the method, the path and the body of a request."""
    value = line.get("value", ...)
    if "update" in line:
        change = {"op": "remove"} if value is ... else {"op": "replace", "value": value}
        return "PATCH", given[line["update"]], [{**change, "path": line["at"]}]
    if "object" in line:
        return "POST", line["path"], line["object"]
    base = bases[line["create"]]
    document = base["object"]
    if "at" in line:
        document = put(document, line["at"][1:].replace("/", "|").replace("~1", "/").replace("~0", "~"), value)
    return "POST", base["path"], document


def _words(line: Document) -> str:
    """Return the words by which a case is known."""
    if "object" in line:
        return f"create {line['object']['kind']} {msgspec.json.encode(line['object']).decode()}"
    verb = "update" if "update" in line else "create"
    value = msgspec.json.encode(line["value"]).decode() if "value" in line else "missing"
    return f"{verb} {line[verb]} {line.get('at', '')} {value}"
