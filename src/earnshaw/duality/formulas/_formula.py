"""Formulas typed by a user, read without evaluating any of their text.

The text is parsed by Python's `ast` module and rebuilt node by node as a SymPy expression from a
whitelist: numbers, + - * / ^ (or **), parentheses, the functions below, pi, e, and the variables of
the potential. (`sympy.sympify` runs its argument as code, so it never sees the text.) Decimals
become exact fractions: 0.1 is 1/10. Everything is bounded: 9^9^9^9 is refused, not computed, and
so is a text that SymPy has not made an expression of after some seconds.
"""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import sympy

from earnshaw.duality.formulas.symbolic import ball
from earnshaw.errors import BadExpression
from earnshaw.numerics.budget import Budget, TooMuchWork, interruptible

MAX_LENGTH = 2000
MAX_DEPTH = 60
MAX_EXPONENT = 1000
MAX_NUMBER = 10**300
MAX_ORDER = 100
SECONDS = 8.0  # for reading one formula: usual ones take milliseconds

_COORDINATE = re.compile(r"x([1-9]\d{0,8})")
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")

_ONE_ARGUMENT: dict[str, Any] = {
    "exp": sympy.exp, "log": sympy.log, "sqrt": sympy.sqrt, "sin": sympy.sin, "cos": sympy.cos,
    "tan": sympy.tan, "asin": sympy.asin, "arcsin": sympy.asin, "acos": sympy.acos,
    "arccos": sympy.acos, "atan": sympy.atan, "arctan": sympy.atan, "sinh": sympy.sinh,
    "cosh": sympy.cosh, "tanh": sympy.tanh, "asinh": sympy.asinh, "acosh": sympy.acosh,
    "atanh": sympy.atanh, "erf": sympy.erf, "erfc": sympy.erfc, "abs": sympy.Abs,
    "sign": sympy.sign, "heaviside": sympy.Heaviside, "gamma": sympy.gamma,
    "box": lambda x: sympy.Heaviside(1 - x),
    # Activations, written so that neither they nor their derivatives overflow before |x| = 700.
    "relu": lambda x: sympy.Max(x, 0), "step": sympy.Heaviside,
    "sigmoid": lambda x: _logistic(x), "logistic": lambda x: _logistic(x),
    "softplus": lambda x: _softplus(x), "silu": lambda x: x * _logistic(x),
    "swish": lambda x: x * _logistic(x), "mish": lambda x: x * sympy.tanh(_softplus(x)),
    "gelu": lambda x: x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2,
    "elu": lambda x: sympy.Max(x, 0) + sympy.exp(sympy.Min(x, 0)) - 1,
    "softsign": lambda x: x / (1 + sympy.Abs(x)),
}  # fmt: skip


def _logistic(x: sympy.Expr) -> sympy.Expr:
    return (1 + sympy.tanh(x / 2)) / 2


def _softplus(x: sympy.Expr) -> sympy.Expr:
    return x / 2 + sympy.log(2 * sympy.cosh(x / 2))


_BESSEL: dict[str, Any] = {
    "besselj": sympy.besselj, "besseli": sympy.besseli, "besselk": sympy.besselk,
}  # fmt: skip
_EXTREMA: dict[str, Any] = {"max": sympy.Max, "min": sympy.Min}
FUNCTIONS = tuple(sorted((*_ONE_ARGUMENT, *_BESSEL, *_EXTREMA)))
_CONSTANTS = {"pi": sympy.pi, "e": sympy.E}


def parse_formula(text: str, variables: tuple[sympy.Symbol, ...], dim: int = 0) -> sympy.Expr:
    """The SymPy expression of `text` in the given `variables` and x1 .. x_dim, or `BadExpression`.

    Names are read in any case, so Heaviside and E work; the result is real, finite where constant,
    and free of anything outside the whitelist.
    """
    if not isinstance(text, str):
        raise BadExpression(f"a formula is given as text, not as {type(text).__name__}")
    return _parsed(text, variables, dim)


@lru_cache(maxsize=256)
def _parsed(text: str, variables: tuple[sympy.Symbol, ...], dim: int) -> sympy.Expr:
    reader = _Reader(text, {symbol.name: symbol for symbol in variables}, dim)
    try:
        with Budget(SECONDS):
            return interruptible("reading it")(reader.read)()
    except TooMuchWork as failure:
        reader.refuse(str(failure), "a simpler formula")


def coordinate(index: int) -> sympy.Symbol:
    """The symbol x_(index+1)."""
    return sympy.Symbol(f"x{index + 1}", real=True)


class _Reader:
    """Reads one text. Holds it, so that every complaint can say where it went wrong."""

    def __init__(self, text: str, variables: Mapping[str, sympy.Symbol], dim: int) -> None:
        self.text = text
        self.variables = variables
        self.dim = dim
        # '^' binds weaker than '+' in Python: it has to become '**' before parsing.
        self.source = text.strip().replace("^", "**")

    def read(self) -> sympy.Expr:
        if len(self.text) > MAX_LENGTH:
            self.refuse(f"it has {len(self.text)} characters", f"at most {MAX_LENGTH}")
        if not self.source:
            self.refuse("it is empty", self.vocabulary())
        if not self.source.isascii() or not self.source.isprintable():
            bad = next(c for c in self.source if not (c.isascii() and c.isprintable()))
            self.refuse(f"character {bad!r}", "one line of ASCII, with pi, * and -")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self.source, mode="eval")
        except SyntaxError as error:
            where = self.place((error.offset or 1) - 1)
            if "literal" in error.msg:
                allowed = f"products with *, as in 2*{next(iter(self.variables), 'x1')}"
                self.refuse(f"a number runs into a name{where}", allowed)
            self.refuse(f"{error.msg}{where}", self.vocabulary())
        except (ValueError, MemoryError, RecursionError):
            self.refuse("it is nested too deeply", f"at most {MAX_DEPTH} levels")
        return self.check(self.build(tree.body, 0), tree.body)

    # -- one method a kind of node ---------------------------------------------------------------

    def build(self, node: ast.expr, depth: int) -> sympy.Expr:
        if depth > MAX_DEPTH:
            self.refuse("it is nested too deeply", f"at most {MAX_DEPTH} levels")
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self.build(node.operand, depth + 1)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Pow):
                return self.power(node, depth)
            if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
                return self.check(self.chain(node, depth), node)
        if isinstance(node, ast.Call):
            return self.check(self.call(node, depth), node)
        what = type(node.op if isinstance(node, ast.BinOp | ast.UnaryOp) else node).__name__
        self.refuse(f"{what} is not allowed{self.place(node.col_offset)}", self.vocabulary())

    def number(self, node: ast.Constant) -> sympy.Expr:
        literal = ast.get_source_segment(self.source, node) or ""
        if not _NUMBER.fullmatch(literal):
            where = self.place(node.col_offset)
            self.refuse(f"{literal[:20]!r} is not a number{where}", "decimals such as 2, 0.1, 1e-3")
        value = Fraction(literal)
        return self.check(sympy.Rational(value.numerator, value.denominator), node)

    def name(self, node: ast.Name) -> sympy.Expr:
        known = {**self.variables, **_CONSTANTS}
        if node.id.lower() in known:
            return known[node.id.lower()]
        axis = _COORDINATE.fullmatch(node.id.lower())
        if axis and int(axis[1]) <= self.dim:
            return coordinate(int(axis[1]) - 1)
        where = self.place(node.col_offset)
        if node.id.lower() in FUNCTIONS:
            self.refuse(f"{node.id} needs an argument{where}", f"{node.id.lower()}(...)")
        near = [*known, *self.coordinates()]
        self.refuse(f"unknown name {node.id[:30]!r}{where}", self.hint(node.id, near))

    def power(self, node: ast.BinOp, depth: int) -> sympy.Expr:
        base, exponent = (self.build(side, depth + 1) for side in (node.left, node.right))
        where = self.place(node.right.col_offset)
        if exponent.is_number and not abs(ball(exponent)) <= MAX_EXPONENT:
            self.refuse(f"the exponent is too large{where}", f"at most {MAX_EXPONENT}")
        return self.check(base**exponent, node)

    def chain(self, node: ast.expr, depth: int) -> sympy.Expr:
        """A run of additions or of multiplications, which `ast` nests to the left, in one loop."""
        kind = (ast.Add, ast.Sub) if isinstance(node.op, ast.Add | ast.Sub) else (ast.Mult, ast.Div)  # type: ignore[attr-defined]
        terms = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, kind):
            value = self.build(node.right, depth + 1)
            if isinstance(node.op, ast.Div):
                if value.is_zero:
                    where = self.place(node.right.col_offset)
                    self.refuse(f"division by zero{where}", "a non-zero divisor")
                value = 1 / value
            terms.append(-value if isinstance(node.op, ast.Sub) else value)
            node = node.left
        terms.append(self.build(node, depth + 1))
        combine = sympy.Add if kind[0] is ast.Add else sympy.Mul
        return combine(*reversed(terms))

    def call(self, node: ast.Call, depth: int) -> sympy.Expr:
        where = self.place(node.col_offset)
        if not isinstance(node.func, ast.Name):
            self.refuse(f"only named functions can be called{where}", self.vocabulary())
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            self.refuse(f"named or starred arguments{where}", f"{node.func.id}(x)")
        name = node.func.id.lower()
        if name not in FUNCTIONS:
            self.refuse(
                f"unknown function {node.func.id[:30]!r}{where}", self.hint(name, FUNCTIONS)
            )
        low, high = (2, 20) if name in _EXTREMA else (2, 2) if name in _BESSEL else (1, 1)
        if not low <= len(node.args) <= high:
            wanted = (
                f"{low} to {high} arguments" if low < high else f"{low} argument" + "s" * (low > 1)
            )
            self.refuse(f"{name} has {len(node.args)} arguments{where}", wanted)
        values = [self.build(argument, depth + 1) for argument in node.args]
        if name in _BESSEL and not (values[0].is_Rational and abs(values[0]) <= MAX_ORDER):
            self.refuse(f"the order of {name}{where}", f"a number of size at most {MAX_ORDER}")
        if name == "gamma" and values[0].is_number and not abs(ball(values[0])) <= MAX_ORDER:
            self.refuse(f"gamma of a large number{where}", f"at most {MAX_ORDER}")
        return {**_ONE_ARGUMENT, **_BESSEL, **_EXTREMA}[name](*values)

    # -- checks and complaints -------------------------------------------------------------------

    def check(self, expr: Any, node: ast.expr) -> sympy.Expr:
        """Refuse numbers, exponents and constants that are too large, infinite, or not real."""
        where = self.place(node.col_offset)
        if expr.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            self.refuse(f"an infinite or undefined value{where}", "finite real values")
        if any(max(abs(n.p), n.q) > MAX_NUMBER for n in expr.atoms(sympy.Rational)):
            self.refuse(f"a number is out of range{where}", "at most 300 digits")
        if any(p.exp.is_Rational and abs(p.exp) > MAX_EXPONENT for p in expr.atoms(sympy.Pow)):
            self.refuse(f"the exponent is too large{where}", f"at most {MAX_EXPONENT}")
        if expr.has(sympy.I) or (expr.is_number and not expr.is_Rational and not _is_finite(expr)):
            self.refuse(f"a constant is not a finite real number{where}", "finite real values")
        return expr

    def hint(self, name: str, known: Iterable[str]) -> str:
        near = difflib.get_close_matches(name.lower(), [*known], n=3, cutoff=0.6)
        return f"did you mean {' or '.join(near)}?" if near else ", ".join(known)

    def coordinates(self) -> list[str]:
        return [] if self.dim == 0 else ["x1"] if self.dim == 1 else [f"x1 to x{self.dim}"]

    def vocabulary(self) -> str:
        names = ", ".join([*self.variables, *self.coordinates(), *_CONSTANTS])
        return f"numbers, + - * / ^ ( ), {names}, and functions such as exp(x), sqrt(x), max(x, y)"

    def place(self, column: int) -> str:
        """' at character n', counted in the user's text, where ^ is one character."""
        written, seen = self.text.lstrip(), 0
        for index, character in enumerate(written):
            if seen >= column:
                return f" at character {index + 1 + len(self.text) - len(written)}"
            seen += 2 if character == "^" else 1
        return " at its end"

    def refuse(self, what: str, allowed: str) -> NoReturn:
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        closing = allowed if allowed.startswith("did you") else f"allowed: {allowed}"
        raise BadExpression(f"cannot use the formula {shown!r}: {what}; {closing}") from None


def _is_finite(constant: sympy.Expr) -> bool:
    value = ball(constant)
    return bool(value.is_finite()) and abs(value) < MAX_NUMBER
