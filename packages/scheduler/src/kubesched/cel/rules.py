"""Rules: an expression over some variables in, its result out.

From the text of an expression and the types of its variables to a program, or to an error in the reference's words.
"""

# upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go (v1.36)

from collections.abc import Sequence
from typing import Any

from kubesched.cel.checker import Fields, check_names
from kubesched.cel.errors import CelCompileError
from kubesched.cel.parser import parse
from kubesched.cel.planner import plan
from kubesched.cel.source import Problems
from kubesched.cel.syntax import Ident, descendants
from kubesched.cel.types import Type
from kubesched.cel.validators import validate


class Rule:
    """A compiled expression."""

    def __init__(self, expression: str, variables: dict[str, Type], fields: Fields, *, messages: bool = False) -> None:
        """Compile an expression, which may construct objects if `messages` is set; raises CelCompileError."""
        problems = Problems(expression)
        try:
            root = parse(expression, problems)
            if not problems:
                self.type = check_names(root, problems, variables, fields, messages=messages)
            if not problems:
                validate(root, problems)
            if problems:
                raise CelCompileError(f"compilation failed: {problems}")
            self.names = {node.name for node in descendants(root) if isinstance(node, Ident)}
            self._program = plan(root, tuple(variables))
        except RecursionError:
            # differs (D-027): Python's stack can end before the reference's limit; the message is the same
            raise CelCompileError("compilation failed: expression recursion limit exceeded") from None

    def run(self, values: Sequence[Any]) -> tuple[Any, int]:
        """Return the result of the expression, and its cost; raises CelRuntimeError."""
        return self._program.evaluate(*values)
