"""A committee as a Python file that needs NumPy only: `numpy_committee_source`."""

from __future__ import annotations

from earnshaw.learning.evidence.committee import Committee
from earnshaw.learning.evidence.shapes import KINDS
from earnshaw.learning.exports._writing import literal
from earnshaw.learning.exports.source import dot_product_code

PREDICT = '''
def predict(x: np.ndarray) -> np.ndarray:
    """g(x) for inputs of shape (..., {dim}); shape {shape}."""
    x = np.asarray(x, dtype=float)
    flat = x.reshape(-1, {dim})
    z = (flat - SHIFT) / SCALE
    views = {{"straight": z, "quantiles": z.copy()}}
    for i, knots, heights in zip(BENT, KNOTS, HEIGHTS):
        views["quantiles"][:, i] = np.interp(flat[:, i], knots, heights)
    g = 0.0
    for share, positions, biases, weights, linear, intercept in NETWORKS:
        units = activation(z @ positions.T + biases)
        g = g + share * (units @ weights + z @ linear + intercept)
    for share, view, parts, slope, centres, charges, line in FIELDS:
        said = _field(views[view], parts, slope, centres, charges)
        g = g + share * (line[0] * said + line[1:])
    g = DEVIATION * g + MEAN
    return {result}


def _field(x, parts, slope, centres, charges):
    """What charges at centres (c, d) say of x (n, d), a block of rows at a time."""
    found = []
    for start in range(0, len(x), 256):
        rows = x[start : start + 256]
        potential = slope / x.shape[1] * (rows @ centres.T)
        for kind, scales, amplitude in parts:
            gap = (rows[:, None, :] - centres) * scales
            if kind == "laplace":
                potential += amplitude * np.exp(-np.sum(np.abs(gap), axis=2))
            else:
                r = np.sqrt(np.sum(gap**2, axis=2))
                potential += amplitude * (1 + r) * np.exp(-r)
        found.append(potential @ charges)
    return np.concatenate(found) if found else np.zeros((0, charges.shape[1]))
'''


def numpy_committee_source(committee: Committee) -> str:
    """The text of a file with ``predict(x)``: inputs (..., d) to g (...) or (..., m)."""
    layout, seen = committee.linear.layout, committee.coordinates
    own = dot_product_code(layout.activation)
    one, dim = layout.outputs == 1, layout.dim
    members = [(committee.weights[0], committee.linear)]
    if committee.networks:
        share = committee.weights[1] / len(committee.networks)
        members += [(share, member) for member in committee.networks]
    networks = [
        _tuple(literal(float(share)), *map(literal, member.layout.parts(member.theta)))
        for share, member in members
        if share
    ]
    shares = committee.weights[len(committee.weights) - len(committee.fields) :]
    fields = []
    for share, fit in zip(shares, committee.fields, strict=True):
        shape = fit.field.shape
        each = zip(KINDS[shape.kind], shape.scales, shape.amplitude.tolist(), strict=True)
        parts = [_tuple(repr(part), literal(scales), literal(a)) for part, scales, a in each]
        more = (shape.slope, fit.field.centres, fit.field.charges, fit.line)
        named = (repr(fit.view), _tuple(*parts))
        fields.append(_tuple(literal(float(share)), *named, *map(literal, more)))
    result = "g[:, 0].reshape(x.shape[:-1])" if one else "g.reshape(*x.shape[:-1], g.shape[1])"
    outputs = "(...)" if one else f"(..., {layout.outputs})"
    constants = {
        "SHIFT": literal(seen.shift),
        "SCALE": literal(seen.scale).replace("inf", "np.inf"),
        "BENT": literal(seen.again),
        "MEAN": literal(committee.shift),
        "DEVIATION": literal(committee.deviation),
    }
    tables = {
        "KNOTS": literal(seen.knots),
        "HEIGHTS": literal(seen.heights),
        "NETWORKS": _list(networks),
        "FIELDS": _list(fields),
    }
    title = f"A committee of {len(networks)} networks and {len(fields)} fields of {dim} inputs."
    index = f"    predict(x)     g, for inputs of shape (..., {dim}); shape {outputs}"
    code = PREDICT.format(dim=dim, shape=outputs, result=result)
    return own._replace(
        words=[title, index],
        constants={**own.constants, **constants},
        functions=[*own.functions, code],
        tables={**own.tables, **tables},
    ).file()


def _tuple(*entries: str) -> str:
    return "(" + ", ".join(entries) + ",)"


def _list(entries: list[str]) -> str:
    return "[\n    " + ",\n    ".join(entries) + ("," if entries else "") + "\n]"
