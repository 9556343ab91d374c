"""The engine that reads the values of a file: it formats expressions and types as text in the form of `scopes.py`, and
follows the meaning of local names.

A language is a subclass with tables, which say by node type how an expression or type is formatted and what a node
binds; a rule is made here, or is a method of the subclass. `BlockValues` is for languages that declare variables by
block: it binds all names first. `Flow` is for the others: it follows the assignments in source order. Names that no
function binds have no meaning here: they belong to the file, and the resolver knows them.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, field

from secateur.languages.syntax.collector import Captures, Collector, named_child
from secateur.languages.syntax.names import CALLED_ITSELF, DEEPEST, UNKNOWN, Scopes, element, format_container, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

Rule = Callable[[Any, "Node", int], str]  # formats a node; the number is the depth of the nodes inside it


class Values:
    """Formats the expressions and types of one file. The keys of tables are node types; a key may name several."""

    EXPRESSIONS: ClassVar[Mapping[str, Rule]] = {}
    LITERALS: ClassVar[Mapping[str, str]] = {}
    TYPES: ClassVar[Mapping[str, Rule]] = {}
    BINDERS: ClassVar[Mapping[str, Callable[[Any, Node], None]]] = {}

    def __init_subclass__(cls) -> None:
        for table in ("EXPRESSIONS", "LITERALS", "TYPES", "BINDERS"):
            items = getattr(cls, table).items()
            setattr(cls, table, {kind: value for kinds, value in items for kind in kinds.split()})

    def __init__(self, out: Collector) -> None:
        self.out = out

    def format_expression(self, node: Node | None, depth: int = 0) -> str:
        """Formats an expression."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        rule = self.EXPRESSIONS.get(node.type)
        return self.LITERALS.get(node.type, UNKNOWN) if rule is None else rule(self, node, depth + 1)

    def format_type(self, node: Node | None, depth: int = 0) -> str:
        """Formats a type; "" for a type that the text form cannot express."""
        rule = None if node is None or depth > DEEPEST else self.TYPES.get(node.type)
        return "" if node is None or rule is None else rule(self, node, depth + 1)

    def format_text(self, node: Node, _depth: int) -> str:
        """Formats a node as it is written."""
        return self.out.text(node)

    def format_first(self, sides: Iterable[Node | None], depth: int, *, useless: Sequence[str] = (UNKNOWN,)) -> str:
        """Formats the first expression with a useful text, or else the last."""
        text = UNKNOWN
        for side in sides:
            if (text := self.format_expression(side, depth)) not in useless:
                break
        return text


def through(field_name: str) -> Rule:
    """Makes the rule of an expression with the value of its field."""
    return lambda values, node, depth: values.format_expression(node.child_by_field_name(field_name), depth)


def inside(index: int = 0) -> Rule:
    """Makes the rule of an expression with the value of its named child."""
    return lambda values, node, depth: values.format_expression(named_child(node, index), depth)


def element_of(container: Rule) -> Rule:
    """Makes the rule of an element of a container."""
    return lambda values, node, depth: element(container(values, node, depth))


def instance_of(field_name: str) -> Rule:
    """Makes the rule of a value whose type is in a field."""
    return lambda values, node, _depth: value_of(values.format_type(node.child_by_field_name(field_name)))


def type_in(field_name: str) -> Rule:
    """Makes the rule of a type that is written like the one in its field."""
    return lambda values, node, depth: values.format_type(node.child_by_field_name(field_name), depth)


def container_of(field_name: str) -> Rule:
    """Makes the rule of a container type; its element type is in the field, or is the first child."""
    return lambda values, node, depth: format_container(
        values.format_type(node.child_by_field_name(field_name) or named_child(node), depth)
    )


def holder_of(node: Node) -> Node | None:
    """Returns the node around the list that contains `node`: the function of a parameter, the call of an argument."""
    return node.parent.parent if node.parent is not None else None


class BlockValues(Values):
    """Formats the expressions of a file whose local variables are bound once, in source order."""

    def __init__(self, bindings: Iterable[Node], out: Collector) -> None:
        super().__init__(out)
        self.scopes = Scopes()
        self.types = Scopes()  # type parameters
        self.bind_all(sorted(bindings, key=lambda node: node.start_byte))

    def bind_all(self, nodes: Iterable[Node]) -> None:
        """Binds the names in sorted nodes."""
        for node in nodes:
            self.BINDERS[node.type](self, node)

    def bind(self, name: Node | None, meaning: str, scope: Node | None, first: int = 0) -> None:
        """Binds a name from its own position, or from byte `first`, to the end of a node."""
        if name is not None and scope is not None:
            self.scopes.bind(self.out.text(name), meaning, first or name.start_byte, scope.end_byte)

    def format_name(self, node: Node, _depth: int = 0) -> str:
        """Formats a name: its meaning if it is local."""
        name = self.out.text(node)
        meaning = self.scopes.find_meaning(name, node.start_byte)
        return name if meaning is None else meaning

    def format_type_name(self, node: Node, _depth: int = 0) -> str:
        """Formats the name of a type; of a type parameter its bound, which may be ""."""
        name = self.out.text(node)
        bound = self.types.find_meaning(name, node.start_byte)
        return name if bound is None else bound


Action = Callable[[Any, "Node"], None]
# (byte; 1 at the start of a node, 0 at its end; minus its end, so that outer nodes open first; action; node).
Step = tuple[int, int, int, Action, "Node"]

START, END = "start", "end"


class Scope(Struct):
    """A scope that binds names up to a byte. Functions and classes bind; a block only refines what is known."""

    kind: str  # "module", "class", "function", "inner" (binds, but has no `return`), "block"
    end: int
    names: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # type parameters
    receiver: str = UNKNOWN  # the meaning of `self` or `this`
    returned: set[str] = field(default_factory=set)
    row: int = -1  # row at which its return type is recorded; -1: it is not recorded
    hides: bool = False  # definitions inside are not fragments
    yields: bool = False
    manager: bool = False  # a context manager, which yields once


class Flow(Values):
    """Reads one file in source order and records calls with their receivers, the types of fields and variables, and
    what functions return. A name means its last value."""

    ACTIONS: ClassVar[Sequence[tuple[str, Action, str]]]
    """Captures, and what is done with their nodes: at their `START`, at their `END`, or at the end of a field."""
    MEMBER: ClassVar[str]  # the field with the name of a member; its owner is in the field `object`
    UNRECORDED: ClassVar[frozenset[str]]
    """Values that are not recorded: they are often placeholders, and few methods are called on them."""
    EXITS: ClassVar[frozenset[str]]
    TEST: ClassVar[tuple[bytes, str]]
    """The word that tests a type, and the capture of nodes with code that only runs if their condition is true."""

    def __init__(self, captures: Captures, out: Collector) -> None:
        super().__init__(out)
        self.scopes = [Scope("module", len(out.source) + 1)]  # innermost last
        for at, begins, _, action, node in sorted(self._list_steps(captures), key=itemgetter(0, 1, 2)):
            while self.scopes[-1].end + (not begins) <= at:
                self._close()
            action(self, node)
        while len(self.scopes) > 1:
            self._close()

    def _list_steps(self, captures: Captures) -> Iterator[Step]:
        for capture, action, moment in self.ACTIONS:
            # A script's object has a match for each of its methods.
            for node in {node.id: node for node in captures.get(capture, ())}.values():
                if moment == START:
                    yield node.start_byte, 1, -node.end_byte, action, node
                elif (last := node if moment == END else node.child_by_field_name(moment)) is not None:
                    yield last.end_byte, 0, 0, action, node
        word, branches = self.TEST
        tests = [match.start() for match in re.finditer(word, self.out.source)]
        for node in captures.get(branches, ()) if tests else ():
            condition, body = self.split_test(node) if _contains_offset(node, tests) else (None, None)
            if condition is not None and body is not None and _contains_offset(condition, tests):
                yield body.start_byte, 1, -body.end_byte - 1, Flow._enter_branch, node
        for node in captures.get("test", ()) if tests else ():
            if _contains_offset(node, tests):
                yield node.end_byte, 0, 0, Flow._leave_test, node

    # --- scopes -------------------------------------------------------------------------------------------------------

    def _close(self) -> None:
        scope = self.scopes.pop()
        if scope.row < 0 or len(scope.returned) != 1 or (scope.yields and not scope.manager):
            return
        text = next(iter(scope.returned))
        if text != UNKNOWN:
            self.out.annotations.append((scope.row, "return", type_of(text)))

    def find_meaning(self, name: str) -> str | None:
        """Returns the meaning of a function's name here; None for a name of the file."""
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
        return None

    def format_name(self, node: Node, _depth: int = 0) -> str:
        """Formats a name: its meaning if a function binds it."""
        name = self.out.text(node)
        meaning = self.find_meaning(name)
        return name if meaning is None else meaning

    def find_binder(self) -> Scope:
        """Returns the scope that binds an assignment here."""
        at = -1  # the module is never a block; a loop, because this runs for every assignment
        while self.scopes[at].kind == "block":
            at -= 1
        return self.scopes[at]

    def find_function(self) -> Scope | None:
        """Returns the function to which a `return` here belongs."""
        return next((scope for scope in reversed(self.scopes) if scope.kind == "function"), None)

    def bind(self, name: str, meaning: str, *, declared: bool = False, scope: Scope | None = None) -> None:
        """Gives a name of a function a meaning. If the new value is unknown, the declared type stays."""
        holder = scope or self.find_binder()
        if holder.kind in ("module", "class"):
            return
        holder.names[name] = holder.declared.get(name, UNKNOWN) if meaning == UNKNOWN else meaning
        if declared and meaning != UNKNOWN:
            holder.declared[name] = meaning
        for block in reversed(self.scopes):
            if block is holder:
                break
            block.names.pop(name, None)

    def is_hidden(self) -> bool:
        """Tells whether definitions here are not fragments."""
        for scope in self.scopes:  # noqa: SIM110 - twice as fast, and runs for every definition and assignment
            if scope.hides:
                return True
        return False

    def is_class_hidden(self) -> bool:
        """Tells whether the innermost class is not a fragment."""
        last = max((position for position, scope in enumerate(self.scopes) if scope.kind == "class"), default=0)
        return any(scope.hides for scope in self.scopes[:last])

    def hide(self, node: Node) -> None:
        """Records that a definition without a fragment hides an outer definition with the same name."""
        if self.is_hidden():
            self.bind(self.out.field_text(node, "name"), UNKNOWN)

    # --- types from tests ---------------------------------------------------------------------------------------------

    @abstractmethod
    def split_test(self, node: Node) -> tuple[Node | None, Node | None]:
        """Returns a condition and the code that only runs if it is true."""

    @abstractmethod
    def is_conjunction(self, node: Node) -> bool:
        """Tells whether a node is true only if its fields `left` and `right` are."""

    @abstractmethod
    def read_test(self, node: Node) -> tuple[Node | None, str] | None:
        """Returns the tested expression and the text of its type."""

    @abstractmethod
    def find_negated(self, condition: Node) -> Node | None:
        """Returns what a condition negates; None if it is no negation."""

    def _enter_branch(self, node: Node) -> None:
        """Narrows types where a condition is true: in its branch, or in the rest of a conjunction."""
        condition, body = self.split_test(node)
        if body is not None:
            self.scopes.append(Scope("block", body.end_byte, dict(self._narrow_names(condition))))

    def _leave_test(self, node: Node) -> None:
        """Narrows types after `if not isinstance(cart, Cart): return` and `assert isinstance(cart, Cart)`."""
        condition = node.child_by_field_name("condition") or named_child(node)
        if node.type != "assert_statement" and condition is not None:
            last = node.child_by_field_name("consequence")
            if last is not None and last.type in ("block", "statement_block"):
                last = named_child(last, -1)
            leaves = last is not None and last.type in self.EXITS and node.child_by_field_name("alternative") is None
            condition = self.find_negated(condition) if leaves else None
        for name, meaning in self._narrow_names(condition):
            self.bind(name, meaning)

    def _narrow_names(self, node: Node | None, depth: int = 0) -> Iterator[tuple[str, str]]:
        if node is None or depth > DEEPEST:
            return
        if node.type == "parenthesized_expression":
            yield from self._narrow_names(named_child(node), depth + 1)
        elif self.is_conjunction(node):
            for side in ("left", "right"):
                yield from self._narrow_names(node.child_by_field_name(side), depth + 1)
        elif (test := self.read_test(node)) is not None and test[0] is not None and test[0].type == "identifier":
            yield self.out.text(test[0]), value_of_type(test[1])

    # --- records ------------------------------------------------------------------------------------------------------

    def annotate(self, node: Node, name: str, meaning: str) -> None:
        """Records the type of a field, or of a variable of a class or module."""
        if meaning not in self.UNRECORDED:
            self.out.annotations.append((node.start_point.row, name, type_of(meaning)))

    def record_call(self, node: Node) -> None:
        """Records a call of a name or member."""
        if (name := node.child_by_field_name(self.MEMBER)) is not None:
            receiver = self.format_expression(node.child_by_field_name("object"))
        else:
            name, meaning = node, self.find_meaning(self.out.text(node))
            receiver = "" if meaning is None else CALLED_ITSELF + meaning
        self.out.calls.append((name.start_point.row, self.out.text(name), receiver))

    def record_return(self, node: Node) -> None:
        """Adds what a `return` or `yield` gives to the results of its function."""
        scope, value = self.find_function(), named_child(node)
        if scope is None:
            return
        if node.type != "return_statement":
            scope.yields = True
            if not scope.manager:
                return
        if value is not None and value.type not in ("none", "null", "undefined"):
            scope.returned.add(self.format_expression(value))


def _contains_offset(node: Node, offsets: Sequence[int]) -> bool:
    index = bisect_left(offsets, node.start_byte)
    return index < len(offsets) and offsets[index] < node.end_byte


def value_of_type(written: str) -> str:
    """Returns the meaning of a value with a declared type."""
    return written[1:] if written.startswith("=") else value_of(written)


def type_of(meaning: str) -> str:
    """Returns the type of a value in its recorded form."""
    plain = meaning.startswith("<") and meaning.find(">") == len(meaning) - 1
    return meaning[1:-1] if plain else f"={meaning}"
