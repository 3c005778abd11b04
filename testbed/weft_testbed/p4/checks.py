# SPDX-License-Identifier: LGPL-2.1-only
"""Checks of names, fields and widths in a parsed switch program."""

from collections.abc import Iterable
from typing import Any, NoReturn

from lark import Token, Tree

from weft.base.errors import WeftError
from weft_testbed.p4.declarations import ARCHITECTURES, Action, Field, Program, Table, ValueSet

Type = str | int | None
"""Name of a struct or header, a width in bits, or None for a number of any width."""
Scope = dict[str, Type]

# Actions, functions and constants declared in the files that programs include.
_INCLUDED = {"NoAction", "mark_to_drop", "PORT_METADATA_SIZE"}
_METHODS = {"extract", "emit", "advance", "isValid", "setValid", "setInvalid"}
_PACKAGES = {"V1Switch", "Pipeline", "Switch"}
_MATCHES = ("exact", "ternary", "lpm")


class Checker:
    """Collects a program's declarations, and checks names and widths."""

    def __init__(self, source: str, program: Program) -> None:
        """Start with the program to fill."""
        self.source, self.program = source, program
        self.structs: dict[str, dict[str, Type]] = {
            name: dict(fields) for name, fields in ARCHITECTURES.items()
        }
        self.types: dict[str, Type] = {}
        self.constants: Scope = {}
        self.numbers: dict[str, int] = {}
        self.blocks: set[str] = set()

    def fail(self, at: Any, problem: str) -> NoReturn:
        """Raise an error that cites a line of the program."""
        line = at.line if isinstance(at, Token) else getattr(at.meta, "line", "?")
        raise WeftError(f"{self.source}:{line}: {problem}")

    def check(self, tree: "Tree[Token]") -> None:
        """Process all declarations in order."""
        for one in tree.children:
            assert isinstance(one, Tree)
            getattr(self, f"_{one.data}")(*one.children)

    # ---- Types -----------------------------------------------------------------------------------

    def _constant(self, kind: Any, name: Token, value: Any) -> None:
        self.constants[str(name)] = self._type(kind)
        if value.data == "number":
            self.numbers[str(name)] = int(value.children[0], 0)

    def _type_definition(self, kind: Any, name: Token) -> None:
        self.types[str(name)] = self._type(kind)

    def _header(self, name: Token, *fields: Any) -> None:
        self.structs[str(name)] = {
            str(one.children[1]): self._type(one.children[0]) for one in fields
        }

    _struct = _header

    def _type(self, kind: Any) -> Type:
        if kind.data == "bits":
            return int(kind.children[0])
        if kind.data == "boolean":
            return "bool"
        name = str(kind.children[0])
        return self.types.get(name, name)

    # ---- Parsers and controls --------------------------------------------------------------------

    def _scope(self, parameters: Any) -> Scope:
        found = {**self.constants}
        for one in parameters.children:
            if one is not None:
                _, kind, name = one.children
                found[str(name)] = self._type(kind)
        return found

    def _parser(self, name: Token, parameters: Any, *parts: Any) -> None:
        scope = self._scope(parameters)
        for part in parts:
            if part.data == "value_set":
                self._value_set(str(name), scope, *part.children)
        states = {str(part.children[0]) for part in parts if part.data == "state"}
        for part in parts:
            if part.data == "state":
                *statements, transition = part.children[1:]
                self._statements(statements, scope, {})
                self._transition(transition, scope, {*states, "accept", "reject"})
        self.blocks.add(str(name))

    def _value_set(self, parser: str, scope: Scope, kind: Any, size: Any, name: Token) -> None:
        width = self._type(kind)
        if not isinstance(width, int):
            self.fail(name, f"value_set {name} is not of bits")
        found = ValueSet(parser, str(name), width, self._number(size))
        self._once(name, self.program.value_sets)
        self.program.value_sets[str(name)] = found
        scope[str(name)] = width

    def _transition(self, transition: Any, scope: Scope, states: set[str]) -> None:
        (to,) = transition.children
        cases = [] if isinstance(to, Token) else to.children[1:]
        width = None if isinstance(to, Token) else self._of(to.children[0].children[0], scope)
        for case in cases:
            if case.children[0].data != "default":
                self._same_width(case, width, self._of(case.children[0], scope))
        for state in [to] if isinstance(to, Token) else [case.children[1] for case in cases]:
            if str(state) not in states:
                self.fail(state, f"there is no state '{state}'")

    def _control(self, name: Token, parameters: Any, *parts: Any) -> None:
        scope = self._scope(parameters)
        *locals_, body = parts
        tables: dict[str, Table] = {}
        for part in locals_:
            if part.data == "action":
                self._action(str(name), scope, *part.children)
            elif part.data == "table":
                table = self._table(str(name), scope, part)
                tables[table.name] = table
            else:
                self._statements([part], scope, {})
        self._statements(body.children, scope, tables)
        self.blocks.add(str(name))

    def _action(self, control: str, scope: Scope, name: Token, parameters: Any, body: Any) -> None:
        inner = {**scope, **self._scope(parameters)}
        fields = []
        for one in parameters.children:
            if one is not None:
                width = inner[str(one.children[2])]
                if not isinstance(width, int):
                    self.fail(name, f"action {name} has a parameter that is not of bits")
                fields.append(Field(str(one.children[2]), width))
        self._statements(body.children, inner, {})
        self.program.actions[control, str(name)] = Action(control, str(name), tuple(fields))

    def _table(self, control: str, scope: Scope, tree: Any) -> Table:
        name = tree.children[0]
        parts = {part.data: part for part in tree.children[1:]}
        actions = tuple(str(one) for one in parts["actions"].children)
        for one in (*parts["actions"].children, *self._default(parts)):
            if str(one) == "NoAction":
                self.program.actions[control, "NoAction"] = Action(control, "NoAction", ())
            if (control, str(one)) not in self.program.actions:
                self.fail(one, f"table {name}: there is no action '{one}' in {control}")
        for one in self._default(parts):
            if str(one) not in actions:
                self.fail(one, f"table {name}: its default action '{one}' is none of its actions")
        key = tuple(self._key(one, scope) for one in parts["keys"].children)
        size = self._number(parts["size"].children[0])
        self._once(name, self.program.tables)
        table = Table(control, str(name), key, actions, size)
        self.program.tables[str(name)] = table
        return table

    def _default(self, parts: dict[str, Any]) -> Iterable[Token]:
        return parts["default_action"].children if "default_action" in parts else ()

    def _key(self, tree: Any, scope: Scope) -> Field:
        expression, match = tree.children
        width = self._of(expression, scope)
        if not isinstance(width, int):
            self.fail(match, "a key is not of bits")
        if str(match) not in _MATCHES:
            self.fail(match, f"there is no match kind '{match}'")
        return Field(_path(expression), width, str(match))

    def _instance(self, package: Token, arguments: Any, name: Token) -> None:
        if str(package) not in _PACKAGES:
            self.fail(package, f"there is no package '{package}'")
        for one in arguments.children:
            called = one.children[0] if one.data == "invocation" else one
            if str(called.children[0]) not in self.blocks:
                self.fail(package, f"there is no '{called.children[0]}'")
        self.blocks.add(str(name))

    def _once(self, name: Token, there: dict[str, Any]) -> None:
        if str(name) in there:
            self.fail(name, f"'{name}' is there twice")

    # ---- Statements ------------------------------------------------------------------------------

    def _statements(
        self, statements: Iterable[Any], scope: Scope, tables: dict[str, Table]
    ) -> None:
        for one in statements:
            self._statement(one, scope, tables)

    def _statement(self, one: Any, scope: Scope, tables: dict[str, Table]) -> None:
        if one.data == "block":
            self._statements(one.children, scope, tables)
        elif one.data == "assignment":
            target, value = (self._of(part, scope, tables) for part in one.children)
            self._same_width(one, target, value)
        elif one.data == "call":
            self._of(one.children[0], scope, tables)
        elif one.data == "condition":
            self._of(one.children[0], scope, tables)
            self._statements([part for part in one.children[1:] if part], scope, tables)
        elif one.data == "variable":
            kind, name, value = one.children
            scope[str(name)] = self._type(kind)
            if value is not None:
                self._same_width(one, self._type(kind), self._of(value, scope, tables))

    def _same_width(self, at: Any, one: Type, other: Type) -> None:
        if one is not None and other is not None and one != other:
            self.fail(at, f"{_said(one)} and {_said(other)} do not go together")

    # ---- Expressions -----------------------------------------------------------------------------

    def _of(self, tree: Any, scope: Scope, tables: dict[str, Table] | None = None) -> Type:
        """Return the type of an expression."""
        if tree.data == "number":
            return None
        if tree.data == "name":
            return self._named(tree.children[0], scope, tables or {})
        if tree.data == "member":
            return self._member(tree, scope, tables or {})
        if tree.data == "cast":
            self._of(tree.children[1], scope, tables)
            return self._type(tree.children[0])
        if tree.data in ("apply", "invocation"):
            for part in tree.children:
                for one in part.children if part and part.data == "arguments" else [part]:
                    if one is not None:
                        self._of(one, scope, tables)
            applied = tree.data == "apply" or tree.children[0].data == "apply"
            return "result" if applied else "bool"
        parts = [
            self._of(part, scope, tables) for part in tree.children if not isinstance(part, Token)
        ]
        if len(parts) == 2:
            self._same_width(tree, *parts)
        return parts[0] if tree.data == "arithmetic" else "bool"

    def _named(self, name: Token, scope: Scope, tables: dict[str, Table]) -> Type:
        text = str(name)
        if text in scope:
            return scope[text]
        if text in tables:
            return "table"
        if text in _INCLUDED or any(text == one for _, one in self.program.actions):
            return "callable"
        self.fail(name, f"'{text}' is not declared")

    def _member(self, tree: Any, scope: Scope, tables: dict[str, Table]) -> Type:
        of, name = self._of(tree.children[0], scope, tables), tree.children[1]
        if str(name) in _METHODS or (of == "result" and str(name) in ("hit", "miss")):
            return "bool"
        fields = self.structs.get(str(of), {})
        if str(name) not in fields:
            self.fail(name, f"{_said(of)} has no field '{name}'")
        found = fields[str(name)]
        return self.types.get(found, found) if isinstance(found, str) else found

    def _number(self, tree: Any) -> int:
        if tree.data == "number":
            return int(tree.children[0], 0)
        return self.numbers[str(tree.children[0])]


def _path(tree: Any) -> str:
    if tree.data == "member":
        return f"{_path(tree.children[0])}.{tree.children[1]}"
    return str(tree.children[0])


def _said(one: Type) -> str:
    return f"bit<{one}>" if isinstance(one, int) else str(one)
