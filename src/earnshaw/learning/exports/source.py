"""An activation as a small Python file that needs NumPy only: `numpy_source`."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NoReturn

import jax
import numpy as np

from earnshaw.duality.activation import Activation, DotProduct, Translation
from earnshaw.duality.families.tabulated import ProductTranslation, RadialTranslation, Realized
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.realizing.realization import Realization
from earnshaw.errors import EarnshawError
from earnshaw.learning.exports._tables import table_literal
from earnshaw.learning.exports._writing import Code, literal

PAPERS = {
    "EPD": "Electron-Proton Dynamics in Deep Learning (2017)",
    "Full": "Convergence Results for Neural Networks via Electrodynamics, full version",
}

PROFILE = '''
def profile(gap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h at gap = x - w of shape (..., {dim}), and its gradient."""
    return {call}
'''

UNIT = '''
def unit(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """h(x - w) / sqrt(p(x)) for inputs and weights of shape (..., {dim}); shape (...)."""
    x, w = np.asarray(x, dtype=float), np.asarray(w, dtype=float)
    return profile(x - w)[0] * amplitude(x, WIDTH)


def gradient(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient of the unit with respect to w; shape (..., {dim})."""
    x, w = np.asarray(x, dtype=float), np.asarray(w, dtype=float)
    return -profile(x - w)[1] * amplitude(x, WIDTH)[..., None]
'''


def amplitude(x: np.ndarray, width: float) -> np.ndarray:
    """1 / sqrt(p(x)), p the density of N(0, width^2 I), for x of shape (..., d)."""
    log_density = -np.sum((x / width) ** 2, axis=-1) / 2
    log_density = log_density - x.shape[-1] * math.log(math.sqrt(2 * math.pi) * width)
    return np.exp(-log_density / 2)


def numpy_source(activation: str | Activation | Realization) -> str:
    """The text of a Python file with the activation and its gradient, which imports NumPy only.

    For a dot-product activation it has ``activation(x)`` and ``derivative(x)``, elementwise; for a
    translation ``unit(x, w)`` and ``gradient(x, w)``, the gradient with respect to w.
    """
    sigma = exportable(activation)
    if isinstance(sigma, DotProduct):
        code = dot_product_code(sigma, realises(activation))
    else:
        assert isinstance(sigma, Translation)
        code = translation_code(sigma, realises(activation))
        code = code._replace(functions=[*code.functions, UNIT.format(dim=sigma.dim)])
    return code.file()


def exportable(thing: str | Activation | Realization | Callable[[Any], Any]) -> Activation:
    """The activation itself: of that name, or the one that was found for a potential."""
    if isinstance(thing, Realization):
        if thing.activation is None:
            reason = thing.reason.partition("; witness:")[0]
            raise EarnshawError(f"there is no activation to take away: {reason}")
        return thing.activation
    return named_activation(thing)


def realises(thing: object) -> str:
    """A sentence on the potential that an activation was made from, if it remembers one."""
    if not isinstance(thing, (Realization, Realized)):
        return ""
    potential = thing.potential
    known = {field.name: getattr(potential, field.name) for field in dataclasses.fields(potential)}
    numbers = {key: value for key, value in known.items() if key in ("radius", "lam", "core")}
    given = ", ".join(f"{key} = {value}" for key, value in numbers.items())
    name = f"{potential.name}{given and f' ({given})'}"
    if isinstance(thing, Realization):
        if not thing.realizable:
            return f"It was made for the potential {name}: {thing.reason}."
        if thing.check_error is not None:
            return f"It realises the potential {name}, to {thing.check_error:.1e}."
    return f"It realises the potential {name}."


def refuse(activation: Activation, target: str) -> NoReturn:
    """Say that an activation has no form but the one it was given in."""
    own_function = isinstance(activation, DotProduct) and not activation.known
    own = "a function of your own" if own_function else "not of the library"
    raise EarnshawError(
        f"{activation.name!r} is {own}, which {target} cannot be written from; "
        "allowed: the library's activations, or exports.jax_function"
    )


def dot_product_code(activation: DotProduct, remark: str = "") -> Code:
    """The functions activation(x) and derivative(x), and what they need."""
    base, factor = activation.unscaled()
    if base.in_numpy is None:
        refuse(base, "NumPy source")
    words, value, derivative, parts = base.in_numpy
    constants = _constants(base)
    if factor != 1:
        constants["FACTOR"] = literal(factor)
        words = f"factor [{words}]"
        value, derivative = _multiplied(value), _multiplied(derivative)
    title = f"{activation.name}: s(x) = {words}."
    functions = [
        _elementwise("activation", f"s(x) = {words}.", value),
        _elementwise("derivative", "s'(x).", derivative),
    ]
    kinks = ", ".join(
        f"{float(jax.grad(activation)(kink))!r} at x = {kink:g}" for kink in activation.kinks
    )
    index = (
        "    activation(x)    s(x), elementwise\n"
        f"    derivative(x)    s'(x), elementwise{kinks and f'; {kinks}'}"
    )
    unit = "A unit of weights w responds to the input x with s(x.w)."
    paragraphs = [title, " ".join([unit, remark]), index, _origin(activation)]
    return Code(paragraphs, constants, parts, functions, {})


def translation_code(activation: Translation, remark: str = "") -> Code:
    """The function profile(gap), which gives h and its gradient, and what it needs."""
    shape = activation.unrealized()
    if shape.in_numpy is None:
        refuse(activation, "NumPy source")
    words, call, parts = shape.in_numpy
    constants = {**_constants(shape), "WIDTH": literal(float(shape.inputs.width))}
    title = f"{activation.name}: sigma(x, w) = h(x - w) / sqrt(p(x)) in dimension {shape.dim}."
    what = (
        f"h(x) is {words}; p is the density of the inputs, N(0, width^2 I). Two units at v and w "
        f"have the potential E[sigma(x, v) sigma(x, w)] = integral h(x - v) h(x - w) dx. {remark}"
    )
    index = (
        f"    unit(x, w)        sigma, for x and w of shape (..., {shape.dim}); shape (...)\n"
        f"    gradient(x, w)    its gradient with respect to w; shape (..., {shape.dim})"
    )
    functions = [PROFILE.format(dim=shape.dim, call=call)]
    paragraphs = [title, what, index, _origin(activation)]
    return Code(paragraphs, constants, (*parts, amplitude), functions, _tables(shape))


def _constants(activation: Activation) -> dict[str, str]:
    """The parameters of an activation in capitals, to the last bit."""
    return {name.upper(): literal(number) for name, number in activation.parameters().items()}


def _tables(shape: Translation) -> dict[str, str]:
    """The tables that the profile calls, each written once."""
    if isinstance(shape, RadialTranslation):
        return {"TABLE": table_literal(shape.table)}
    if not isinstance(shape, ProductTranslation):
        return {}
    distinct = {id(table): table for table in shape.tables}  # coordinates may share one
    names = {key: f"TABLE_{i + 1}" for i, key in enumerate(distinct)}
    tables = {names[key]: table_literal(table) for key, table in distinct.items()}
    tables["TABLES"] = f"[{', '.join(names[id(table)] for table in shape.tables)}]"
    return tables


def _elementwise(name: str, words: str, expression: str) -> str:
    *statements, result = expression.split("\n")
    body = ["x = np.asarray(x, dtype=float)", *statements, f"return {result}"]
    lines = [f'"""{words}"""', *body]
    text = "\n".join("    " + line for line in lines)
    return f"def {name}(x: np.ndarray) -> np.ndarray:\n{text}"


def _multiplied(expression: str) -> str:
    *statements, result = expression.split("\n")
    is_sum = " + " in result or " - " in result
    return "\n".join([*statements, f"FACTOR * ({result})" if is_sum else f"FACTOR * {result}"])


def _origin(activation: Activation) -> str:
    """Where the activation is from; the reader of a file alone does not know our short titles."""
    if not activation.source:
        return ""
    titles = [f"{short}: {title}." for short, title in PAPERS.items() if short in activation.source]
    return " ".join([f"Source: {activation.source}.", *titles])
