"""Formulas for `realize`, drawn from a grammar: valid ones, nearly valid ones, and hostile ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

FUNCTIONS = (
    *("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "erf", "erfc", "abs", "sign", "heaviside", "gamma", "box"),
)
EXPONENTS = ("99", "999", "1000", "99999999999", "(10^9)", "0.001", "-999", "(1/999)", "1e-300")
CONSTANTS = ("0", "1", "pi", "sqrt(2)", "sqrt(10^299+1)", "(-8)^(1/3)", "acosh(0.5)")
DIMS = (1, 2, 3, 4, 5, 7, 10, 11, 20, 50, 51, 64, 100, 500, 2000, 100_000, 1_000_000)


def formula(rng: random.Random) -> str:
    """A text that might be handed to `realize`."""
    return case(rng)[0]


def case(rng: random.Random) -> tuple[str, str, int | None]:
    """(formula, on, dim): mostly with the variables of the manifold, now and then without."""
    on = rng.choice(("sphere", "space"))
    dim = rng.choice(DIMS) if rng.random() < 0.8 else rng.randint(1, 1_000_000)
    if on == "sphere":
        variables = ["rho"]
    elif rng.random() < 0.6:
        variables = ["r"]
    else:
        count = rng.choice((1, 1, 2, 2, 3, 5, dim))
        names = [f"x{i + 1}" for i in rng.sample(range(dim), min(count, dim, 60))]
        variables = [f"{x}^2" if rng.random() < 0.7 else f"abs({x})" for x in names]
    if rng.random() < 0.03:
        variables = rng.choice((["rho"], ["r"], ["x1"], ["x1", "r"], ["pi"]))
    text = rng.choices((_sensible, _random, _hostile), (4, 5, 3))[0](rng, variables)
    if rng.random() < 0.12:
        text = _damaged(rng, text)
    return text, on, None if on == "sphere" and rng.random() < 0.2 else dim


# -- potentials as people write them ---------------------------------------------------------------


def _sensible(rng: random.Random, variables: list[str]) -> str:
    """A sum or product of known shapes in single variables, often realizable."""
    shapes = [_shape(rng, variable) for variable in variables]
    if len(variables) == 1:
        shapes += [_shape(rng, variables[0]) for _ in range(rng.choice((0, 0, 0, 1, 2, 6)))]
    return rng.choice(("*", "*", "+")).join(f"({shape})" for shape in shapes)


def _shape(rng: random.Random, v: str) -> str:
    a, b, n = _positive(rng), _positive(rng), rng.choice((1, 2, 2, 3, 4, 6, 12, 40))
    return rng.choice(
        (
            f"exp(-{a}*{v})",
            f"exp(-{a}*({v})^{rng.choice((2, 2, '0.5', '1.5', 4))})",
            f"1/({b}+{v})^{n}",
            f"1/(1+{a}*({v})^2)^{rng.choice((n, '0.5', '1.5', '2.5'))}",
            f"(1+{a}*{v})*exp(-{a}*{v})",
            f"exp({a}*({v}-1))",
            f"{b}*({v})^{n}",
            f"max(1-{a}*{v},0)^{n}",
            f"cos({a}*{v})",
            f"sin({a}*{v})/({v})",
            f"besselj({rng.choice((0, 1, 2, '0.5'))}, {a}*{v})",
            f"log({b}+{v})",
            f"sqrt({b}+({v})^2)",
            f"heaviside({a}-{v})",
            f"asin({v})*2/pi",
            f"cosh({a}*{v})",
            f"erfc({a}*{v})",
            f"{_number(rng)}+{b}*{v}",
            f"(1+{v})^{rng.choice((n, 100, 999))}/2^{n}",
            f"({v})^{n}-({v})^{rng.choice((n, n + 2))}*{b}",
        )
    )


def _positive(rng: random.Random) -> str:
    return rng.choice(("1", "2", "3", "0.5", "0.1", "pi", "10", f"{10 ** rng.uniform(-4, 4):.3g}"))


def _number(rng: random.Random) -> str:
    size = rng.choice((0.0, 1.0, 3.0, 10.0, 100.0, 300.0))
    return rng.choice(
        (
            "0",
            "1",
            "-1",
            "2",
            "0.1",
            f"{rng.uniform(-9, 9):.6f}",
            f"1e{rng.uniform(-size, size):.0f}",
        )
    )


# -- anything the grammar allows -------------------------------------------------------------------


def _random(rng: random.Random, variables: list[str]) -> str:
    return _tree(rng, variables, rng.choice((1, 2, 3, 4, 6, 9)))


def _tree(rng: random.Random, variables: list[str], depth: int) -> str:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(variables) if rng.random() < 0.65 else _number(rng)
    left = _tree(rng, variables, depth - 1)
    kind = rng.random()
    if kind < 0.4:
        return f"{rng.choice(FUNCTIONS)}({left})"
    right = _tree(rng, variables, depth - 1 if depth < 4 else rng.randrange(3))
    if kind < 0.46:
        return f"{rng.choice(('max', 'min'))}({left}, {right})"
    if kind < 0.5:
        order = rng.choice(("0", "1", "2", "-1", "0.5", "7", "100", "1/3", "-99.5"))
        return f"{rng.choice(('besselj', 'besseli', 'besselk'))}({order}, {left})"
    return f"({left}){rng.choice('++--**//^')}({right})"


# -- what nobody means well with -------------------------------------------------------------------


def _hostile(rng: random.Random, variables: list[str]) -> str:
    v, f = rng.choice(variables), rng.choice(FUNCTIONS)
    n = rng.choice((2, 5, 10, 20, 50, 58, 100, 400, 10**5))
    small = rng.choice((2, 5, 10, 20, 40))
    makers: tuple[Callable[[], str], ...] = (
        lambda: "(" * n + v + ")" * n,
        lambda: f"{f}(" * small + v + ")" * small,
        lambda: f"{v}^{rng.choice(EXPONENTS)}",
        lambda: (
            rng.choice(
                ("9^9^9^9", "10^400", "1e400", "1e-400", "gamma(100)", "gamma(99.5)^9", "2^1000")
            )
            + f"*{v}"
        ),
        lambda: f"(1+{v})^{rng.choice((100, 999))}*(1-{v})^{rng.choice((100, 999))}",
        lambda: "*".join(f"(1+{k}*{v})^{rng.choice((1, 9, 99))}" for k in range(1, small)),
        lambda: "+".join(f"{v}^{k}/{k + 1}" for k in range(small * 4)),
        lambda: "/".join(f"(1+{v}^{k}+{v})" for k in range(1, small)),
        lambda: "1" + f"/(1+{v}" * small + ")" * small,
        lambda: f"{v}" + f"^{v}" * small,
        lambda: "sqrt(1+" * small + v + ")" * small,
        lambda: f"max({', '.join(f'{k}*{v}^{k % 7}-{k * k}' for k in range(1, 20))})",
        lambda: f"abs({'abs(' * small}{v}-1{')' * small}-1/2)",
        lambda: "*".join(f"abs(sin({k}*{v}))" for k in range(1, small)),
        lambda: f"exp(-{v}*{rng.choice(('1e300', '1e-300', '1e20', '1e-20', '1e9', '1e-9'))})",
        lambda: f"sin({rng.choice(('1e3', '1e9', '1e300', '1e-300'))}*{v})",
        lambda: f"cos(1/{v})*exp(-{v})",
        lambda: f"exp(-1/({v})^2)",
        lambda: f"gamma({v})^{rng.choice((1, 20, -20))}",
        lambda: f"besselk({rng.choice(('0', '100', '99.5'))}, {v})",
        lambda: f"(({v})^2)^0.5-abs({v})",
        lambda: f"{v}-{v}+{rng.choice(CONSTANTS)}",
        lambda: f"1/({v}-{v})",
        lambda: f"log({v}-{rng.choice(('1', '2', '1e300'))})",
        lambda: f"heaviside(sin({rng.choice(('100', '1e6', '1e9'))}*{v}))",
        lambda: f"sign(exp({v})-{rng.choice(('2', '1e200'))})*{v}",
        lambda: "+".join(f"cos({k * k}*{v})/{k}^2" for k in range(1, small * 2)),
        lambda: f"sqrt({'+'.join(f'sqrt({k}+{v})' for k in range(2, small))})",
        lambda: f"tan({f}({f}({v}))*{rng.choice(('1', '99', 'pi/2'))})",
        lambda: f"{f}({v}+pi/{n})+{f}({v}*e)",
        lambda: "-" * n + v,
        lambda: " + ".join([v] * min(n, 2000)),
        lambda: "*".join(f"exp(-x{k}^2)" for k in range(1, n)) if n < 500 else f"{v}*" * n + v,
        lambda: (
            v + rng.choice(("\x00", "\n", "é", "\ud800", "[/b]", "[red]", "'", '"', "\\", "#", ";"))
        ),
    )
    return rng.choice(makers)()


def _damaged(rng: random.Random, text: str) -> str:
    """One to three characters lost, doubled, swapped or put in."""
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text) + 1)
        extra = rng.choice("()+-*/^.,0123456789erhox _[]'%")
        text = rng.choice((text[:place] + text[place + 1 :], text[:place] + extra + text[place:]))
    return text


# -- by the thousand -------------------------------------------------------------------------------


def formulas(seed: int, count: int) -> Iterator[list[str]]:
    """Command lines of `earnshaw realize`, each a function of the seed and its number alone."""
    for number in range(count):
        text, on, dim = case(random.Random(f"{seed}-{number}"))
        text = text.replace("\x00", "")  # no command line can hold one
        argv = ["realize", f"--potential={text}", "--on", on, "--json"]
        yield argv if dim is None else [*argv, "--dim", str(dim)]
