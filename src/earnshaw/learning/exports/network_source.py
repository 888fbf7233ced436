"""A network as a small Python file that needs NumPy only: `numpy_network_source`."""

from __future__ import annotations

from typing import Any

from earnshaw.charges.plain_network import Network
from earnshaw.duality.activation import DotProduct, Translation
from earnshaw.learning.exports._writing import literal
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


def numpy_network_source(*parts: Any, **named: Any) -> str:
    """The text of a Python file with ``predict(x)`` and ``gradient(x)``, which imports NumPy only.

    Takes what `network` takes: a teacher, a student with activation=, or arrays. All numbers are
    written to the last bit. For weights (k,), predict gives (...) and gradient (..., d) for inputs
    (..., d); for weights (k, m) they give (..., m) and (..., m, d).
    """
    net = as_network(*parts, **named)
    sigma, m = net.activation, net.weights.shape[1:]
    outputs = f"(..., {m[0]})" if m else "(...)"
    slopes = f"(..., {m[0]}, {net.dim})" if m else f"(..., {net.dim})"
    if isinstance(sigma, DotProduct):
        own, code = dot_product_code(sigma), _dot_product(net)
    else:
        assert isinstance(sigma, Translation)
        own, code = translation_code(sigma), _translation(net)
    functions = PREDICT.format(dim=net.dim, outputs=outputs, slopes=slopes, **code)
    plural = "unit" if net.units == 1 else "units"
    title, what = f"A network of {net.units} {sigma.name} {plural}: {_formula(net)}.", own.words[0]
    index = (
        f"    predict(x)     g, for inputs of shape (..., {net.dim}); shape {outputs}\n"
        f"    gradient(x)    dg/dx; shape {slopes}"
    )
    names = ("positions", "weights", "biases", "linear", "intercept")
    arrays = {name.upper(): getattr(net, name) for name in names}
    constants = {name: literal(array) for name, array in arrays.items() if array is not None}
    return own._replace(
        words=[title, " ".join([f"Activation {what}", realises(sigma)]), index, own.words[-1]],
        constants={**own.constants, **constants},
        functions=[*own.functions, functions],
    ).file()


def _formula(net: Network) -> str:
    if net.is_dot_product:
        unit = "s(x.position_j)" if net.biases is None else "s(x.position_j + bias_j)"
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
