"""Expression: arithmetic over named numbers, so that knobs.toml can say `max = "ram_bytes / 4"`.

Never `eval`: the text is parsed, and a walker that knows numbers, names, + - * / // %, and min max int round floor
ceil sigmoid computes it. Everything else is refused, and so is whatever could take long: long texts, huge integers,
powers, deep nesting.
"""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping

from albacore.errors import ExpressionError

Number = int | float

MAX_LENGTH = 200
MAX_NUMBER = 10**30
"""Larger numbers are refused at every step, so no integer ever grows long."""
MAX_DIGITS = 15

OPERATORS: dict[type, Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def _round(number: Number, digits: Number = 0) -> Number:
    """Return the number rounded to 0 to 15 digits; `round` itself takes any, and a huge count takes forever."""
    if not isinstance(digits, int) or not 0 <= digits <= MAX_DIGITS:
        raise ValueError(f"round takes 0 to {MAX_DIGITS} digits")
    return round(number, digits) if digits else round(number)


def _sigmoid(number: Number) -> float:
    """Return 1 / (1 + e^-number), the soft limit of BestConfig's utilities (§3.3)."""
    return 1.0 / (1.0 + math.exp(-number)) if number > -700 else 0.0  # e^709 is the largest float


FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "min": (min, 2, 20),
    "max": (max, 2, 20),
    "int": (int, 1, 1),
    "round": (_round, 1, 2),
    "floor": (math.floor, 1, 1),
    "ceil": (math.ceil, 1, 1),
    "sigmoid": (_sigmoid, 1, 1),
}
"""Name -> function, fewest arguments, most arguments."""


def evaluate(text: str, names: Mapping[str, Number]) -> Number:
    """Return the value of an expression.

    Args:
        text: At most 200 characters, such as `min(ram_bytes / 4, 8 * 1024)`.
        names: What the names in it stand for.

    Raises:
        ExpressionError: When the text is not such an expression or has no finite value; says where.
    """
    tree = _parsed(text)
    try:
        return _Walker(text=text, names=names).value(tree)
    except RecursionError as error:
        raise _not_arithmetic(text, error) from error


def names_in(text: str) -> frozenset[str]:
    """Return the names that an expression computes with.

    Raises:
        ExpressionError: When the text is not an expression at all.
    """
    tree = _parsed(text)
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions)


def _parsed(text: str) -> ast.expr:
    """Return the parsed text; what may stand in it is for the walker to say."""
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        size = f"{len(text)} characters" if isinstance(text, str) else type(text).__name__
        raise ExpressionError(
            f"expression: expected a text of at most {MAX_LENGTH} characters, got {size}. Shorten it."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "1if": the parser warns, the walker refuses
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _not_arithmetic(text, error) from error


def _not_arithmetic(text: str, error: Exception) -> ExpressionError:
    """Return the error of a text that cannot be parsed or is nested too deep."""
    at = getattr(error, "offset", None) or 1
    fault = getattr(error, "msg", None) or str(error)
    return ExpressionError(f"expression {text!r}, column {at}: not arithmetic: {fault:.80}. Correct it.", column=at)


class _Walker:
    """Compute one parsed expression."""

    def __init__(self, *, text: str, names: Mapping[str, Number]) -> None:
        self.text = text
        self.names = names

    def value(self, node: ast.expr) -> Number:
        """Return the value of a node, checked to be a finite number of sane size."""
        try:
            found = self._compute(node)
        except ZeroDivisionError as error:
            raise self._refused(node, "division by zero") from error
        except (OverflowError, ValueError) as error:
            raise self._refused(node, str(error)) from error
        if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= MAX_NUMBER:
            raise self._refused(node, "the value is not a finite number below 1e30")
        return found

    def _compute(self, node: ast.expr) -> Number:
        match node:
            case ast.Constant(value=value):
                return value  # type: ignore[return-value]  # whatever is not a number is refused by `value`
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                return self._called(node, name, args)
        raise self._refused(node, f"expected numbers, names, + - * / // %, and {' '.join(FUNCTIONS)}")

    def _named(self, node: ast.expr, name: str) -> Number:
        if name not in self.names:
            raise self._refused(
                node, f"unknown name '{name:.40}'; known are {', '.join(sorted(self.names)) or 'none':.200}"
            )
        return self.names[name]

    def _called(self, node: ast.expr, name: str, args: list[ast.expr]) -> Number:
        function, fewest, most = FUNCTIONS[name]
        if not fewest <= len(args) <= most:
            raise self._refused(node, f"{name} takes {fewest} to {most} arguments, got {len(args)}")
        return function(*(self.value(arg) for arg in args))

    def _refused(self, node: ast.expr, fault: str) -> ExpressionError:
        column = node.col_offset + 1
        return ExpressionError(f"expression {self.text!r}, column {column}: {fault:.300}. Correct it.", column=column)
