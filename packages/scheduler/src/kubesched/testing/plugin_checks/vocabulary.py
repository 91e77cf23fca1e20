"""The words of a plugin: texts in its code and in its objects, for random labels and annotations.

From a plugin class, or objects that it looks up, to texts. A filter that reads the label `example.com/tenant` gets
nodes with this label, and a filter that looks up the License `cad` gets pods with a label of that value.
"""

import types
from collections.abc import Iterable, Iterator
from typing import Any

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.core.framework.building.registry import CLASS_OF_FUNCTION
from kubesched.core.framework.plugin import Plugin

MOST_WORDS = 12
LONGEST = 63


def words_of(plugin: type[Plugin], args: Any = None) -> tuple[str, ...]:
    """Return the texts in the code of a plugin and its arguments that may be labels or values of labels."""
    return _label_texts((*_texts_in(args), *_texts_of(plugin)))


def words_of_objects(objects: Iterable[ApiObject]) -> tuple[str, ...]:
    """Return the names of objects and the texts in them that may be values of labels, names first."""
    documents = [to_builtins(obj) for obj in objects]
    names = [document["metadata"]["name"] for document in documents]
    contents = [{key: value for key, value in each.items() if key not in _NOT_CONTENT} for each in documents]
    return _label_texts((*names, *_texts_in(contents)))


_NOT_CONTENT = frozenset(("apiVersion", "kind", "metadata", "status"))


def _label_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first texts that may be labels or values of labels."""
    found: dict[str, None] = {}
    for text in texts:
        if text and len(text) <= LONGEST and all(each.isalnum() or each in "-_./" for each in text):
            found.setdefault(text)
    return tuple(found)[:MOST_WORDS]


def _texts_of(plugin: type[Plugin]) -> Iterator[str]:
    for kind in plugin.__mro__:
        if kind.__module__.startswith("kubesched.core.framework"):
            break
        for value in vars(kind).values():
            function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
            if isinstance(function, types.FunctionType):
                yield from _texts_of_code(function.__code__, function.__globals__)
                for cell in function.__closure__ or ():
                    yield from _texts_of_cell(cell)


def _texts_of_cell(cell: types.CellType) -> Iterator[str]:
    """Yield the texts of a function that a decorator turned into a plugin."""
    function = cell.cell_contents
    if isinstance(function, types.FunctionType) and hasattr(function, CLASS_OF_FUNCTION):
        yield from _texts_of_code(function.__code__, function.__globals__)


def _texts_of_code(code: types.CodeType, names: dict[str, Any]) -> Iterator[str]:
    # the first constant is the docstring, which is no word
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _texts_of_code(value, names)
        else:
            yield from _texts_in(value)
    for name in code.co_names:
        yield from _texts_in(names.get(name))


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _texts_in(key)
            yield from _texts_in(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _texts_in(each)
