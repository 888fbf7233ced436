"""A network as a small Python file that needs NumPy only: `numpy_network_source`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import DotProduct, Translation
from earnshaw.learning.exports._writing import Code, literal
from earnshaw.learning.exports.networks import network as as_network
from earnshaw.learning.exports.source import dot_product_code, realises, translation_code

PREDICT = '''
def predict(x: np.ndarray) -> np.ndarray:
    """g(x) for inputs of shape (..., {dim}); shape {outputs}."""
    x = np.asarray(x, dtype=float)
    {responses}
    return {value}


def gradient(x: np.ndarray) -> np.ndarray:
    """dg/dx for inputs of shape (..., {dim}); shape {slopes}."""
    x = np.asarray(x, dtype=float)
{statements}
    return {derivative}
'''


UNIT_BY_UNIT = '''
def {name}(z: np.ndarray) -> np.ndarray:
    """{words} of every unit at its own z, shape (..., {units})."""
    z, found = np.asarray(z, dtype=float), np.empty(np.shape(z))
{statements}
    return found
'''


def numpy_network_source(*parts: Any, **named: Any) -> str:
    """The text of a Python file with ``predict(x)`` and ``gradient(x)``, which imports NumPy only.

    Takes what `network` takes: a teacher, a student with activation=, or arrays. All numbers are
    written to the last bit. For weights (k,), predict gives (...) and gradient (..., d) for inputs
    (..., d); for weights (k, m) they give (..., m) and (..., m, d).
    """
    net = as_network(*parts, **named)
    m = net.weights.shape[1:]
    outputs = f"(..., {m[0]})" if m else "(...)"
    slopes = f"(..., {m[0]}, {net.dim})" if m else f"(..., {net.dim})"
    if net.is_dot_product:
        own, code = _activations(net), _dot_product(net)
    else:
        assert isinstance(net.activation, Translation)
        own, code = translation_code(net.activation), _translation(net)
    functions = PREDICT.format(dim=net.dim, outputs=outputs, slopes=slopes, **code)
    plural = "unit" if net.units == 1 else "units"
    title = f"A network of {net.units} {net.activation_name} {plural}: {_formula(net)}."
    what = " ".join([f"Activation {own.words[0]}", *(realises(one) for one, _ in net.kinds)])
    index = (
        f"    predict(x)     g, for inputs of shape (..., {net.dim}); shape {outputs}\n"
        f"    gradient(x)    dg/dx; shape {slopes}"
    )
    names = ("positions", "weights", "biases", "linear", "intercept")
    arrays = {name.upper(): getattr(net, name) for name in names}
    constants = {name: literal(array) for name, array in arrays.items() if array is not None}
    return own._replace(
        words=[title, what, index, own.words[-1]],
        constants={**own.constants, **constants},
        functions=[*own.functions, functions],
    ).file()


def _activations(net: Network) -> Code:
    """activation(z) and derivative(z) of all units, whose activations may differ."""
    kinds = [(one, units) for one, units in net.kinds if isinstance(one, DotProduct)]
    codes = [dot_product_code(one) for one, _ in kinds]
    if len(codes) == 1:
        return codes[0]
    constants: dict[str, str] = {}
    functions: list[str] = []
    parts: dict[str, Callable[..., Any]] = {}
    for number, code in enumerate(codes, start=1):
        for name, value in code.constants.items():
            constants[f"{name}_{number}"] = value
        numbered = [*code.constants, "activation", "derivative"]
        names = re.compile(rf"\b({'|'.join(numbered)})\b(?=\W)")
        functions += [names.sub(rf"\1_{number}", text) for text in code.functions]
        parts |= {part.__name__: part for part in code.parts}
    for name, words in (("activation", "s_j"), ("derivative", "s_j'")):
        statements = "\n".join(
            f"    found[..., {units.tolist()}] = {name}_{number}(z[..., {units.tolist()}])"
            for number, (_, units) in enumerate(kinds, start=1)
        )
        functions.append(
            UNIT_BY_UNIT.format(name=name, words=words, units=net.units, statements=statements)
        )
    titles = "; ".join(code.words[0].rstrip(".") for code in codes)
    origins = " ".join(dict.fromkeys(code.words[-1] for code in codes if code.words[-1]))
    return Code([f"{titles}.", origins], constants, [*parts.values()], functions, {})


def _formula(net: Network) -> str:
    if net.is_dot_product:
        s = "s_j" if isinstance(net.activation, tuple) else "s"
        unit = f"{s}(x.position_j)" if net.biases is None else f"{s}(x.position_j + bias_j)"
    else:
        unit = "sigma(x, position_j)"
    linear = "" if net.linear is None else " + x.linear"
    constant = "" if net.intercept is None else " + intercept"
    return f"g(x) = sum_j weight_j {unit}{linear}{constant}"


def _rest(net: Network) -> str:
    linear = "" if net.linear is None else " + x @ LINEAR"
    return linear + ("" if net.intercept is None else " + INTERCEPT")


def _dot_product(net: Network) -> dict[str, str]:
    fields = "x @ POSITIONS.T" + ("" if net.biases is None else " + BIASES")
    slopes = "slopes[..., None, :] * WEIGHTS.T" if net.weights.ndim == 2 else "slopes * WEIGHTS"
    linear = "" if net.linear is None else " + LINEAR.T"
    return {
        "responses": f"responses = activation({fields})",
        "value": f"responses @ WEIGHTS{_rest(net)}",
        "statements": f"    slopes = derivative({fields})",
        "derivative": f"({slopes}) @ POSITIONS{linear}",
    }


def _translation(net: Network) -> dict[str, str]:
    return {
        "responses": "responses = "
        "profile(x[..., None, :] - POSITIONS)[0] * amplitude(x, WIDTH)[..., None]",
        "value": f"responses @ WEIGHTS{_rest(net)}",
        "statements": "    value, slopes = profile(x[..., None, :] - POSITIONS)\n"
        "    # 1/sqrt(p(x)) has the gradient x/(2 width^2) times itself.\n"
        "    slopes = slopes + value[..., None] * x[..., None, :] / (2 * WIDTH**2)",
        "derivative": "WEIGHTS.T @ slopes * amplitude(x, WIDTH)"
        + ("[..., None, None]" if net.weights.ndim == 2 else "[..., None]"),
    }
