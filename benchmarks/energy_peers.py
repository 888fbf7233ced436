"""The energy and forces of charges with NumPy, PyTorch and KeOps, each in its best form.

A problem is k electrons at x (k, d) with weights c, and m protons at w with weights b. Every peer
returns the same three things,

    sum_ij c_i c_j Phi(x_i, x_j) - 2 sum_ij c_i b_j Phi(x_i, w_j),  its gradient in x,  and in c,

for the Gaussian potential exp(-r^2/2) and that of relu, |x||y| (sin t + (pi - t) cos t)/2 pi. The
self-pair of relu is singular to automatic differentiation, and acos loses half the digits at it, so
each peer puts in |x|^2/2 there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

POTENTIALS = ("gaussian", "relu")
ROWS = {"numpy": 256, "torch": 8192}  # of a block of pairs: fits the cache; fits the memory


class Charges(NamedTuple):
    """Electrons x (k, d), c (k,) and protons w (m, d), b (m,)."""

    x: np.ndarray
    c: np.ndarray
    w: np.ndarray
    b: np.ndarray


Answer = tuple[float, np.ndarray, np.ndarray]
Peer = Callable[[Charges], Answer]


def random_charges(units: int, dim: int, seed: int = 0) -> Charges:
    """k electrons and k protons at N(0, 3 I/d), a few units of length apart in every dimension.

    Weights are uniform on [-1, 1].
    """
    generator = np.random.default_rng(seed)
    x, w = math.sqrt(3 / dim) * generator.standard_normal((2, units, dim))
    c, b = generator.uniform(-1, 1, (2, units))
    return Charges(x, c, w, b)


def blocks(units: int, rows: int) -> list[slice]:
    """0 .. units in runs of at most `rows`."""
    return [slice(start, min(start + rows, units)) for start in range(0, units, rows)]


# -- NumPy: two matrix products around an elementwise function, in blocks of rows ------------------


def numpy_peer(potential: str) -> Peer:
    """Rows in blocks that stay in cache; BLAS uses all cores, the functions one."""
    kernel = {"gaussian": _numpy_gaussian, "relu": _numpy_relu}[potential]

    def run(charges: Charges) -> Answer:
        x, c, w, b = charges
        # Electrons and protons as one list of sources, with charges for the force and the value.
        sources = np.concatenate([x, w])
        charge = np.concatenate([c, -b])
        counted = np.stack([charge, np.concatenate([c, -2 * b])], axis=1)
        force, field, value = np.empty_like(x), np.empty_like(c), 0.0
        for rows in blocks(len(x), ROWS["numpy"]):
            potentials, force[rows] = kernel(x[rows], sources, charge, counted, rows.start)
            field[rows] = potentials[:, 0]
            value += float(c[rows] @ potentials[:, 1])
        return value, 2 * c[:, None] * force, 2 * field

    return run


def _numpy_gaussian(x: Any, y: Any, charge: Any, counted: Any, start: int) -> tuple[Any, Any]:
    exponent = x @ y.T
    exponent -= 0.5 * np.sum(x * x, axis=1)[:, None]
    exponent -= 0.5 * np.sum(y * y, axis=1)
    np.exp(exponent, out=exponent)
    sums = exponent @ np.concatenate([counted, charge[:, None] * y], axis=1)
    return sums[:, :2], sums[:, 2:] - sums[:, :1] * x


def _numpy_relu(x: Any, y: Any, charge: Any, counted: Any, start: int) -> tuple[Any, Any]:
    long, far = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
    cosine = (x / long[:, None]) @ (y / far[:, None]).T
    own = np.arange(len(x)), np.arange(start, start + len(x))
    cosine[own] = 1.0
    np.clip(cosine, -1.0, 1.0, out=cosine)
    opening = math.pi - np.arccos(cosine)
    sine = np.sqrt((1 - cosine) * (1 + cosine))
    along = sine @ (far[:, None] * counted)
    cosine *= opening
    potentials = long[:, None] * (along + cosine @ (far[:, None] * counted)) / (2 * math.pi)
    force = opening @ (charge[:, None] * y) + (along[:, 0] / long)[:, None] * x
    return potentials, force / (2 * math.pi)


# -- PyTorch: the dense kernel, differentiated automatically --------------------------------------


def torch_peer(potential: str) -> Peer:
    """Dense up to 8192 electrons; above, blocks of 8192 rows, since autograd keeps every matrix."""
    import torch

    def gaussian(x: Any, y: Any, start: int | None) -> Any:
        squares = (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T
        return torch.exp(-0.5 * squares)

    def relu(x: Any, y: Any, start: int | None) -> Any:
        long, far = x.norm(dim=1), y.norm(dim=1)
        cosine = (x / long[:, None]) @ (y / far[:, None]).T
        if start is not None:  # the self-pairs: any place where the derivative exists
            cosine.diagonal(start).zero_()
        shape = torch.sqrt((1 - cosine) * (1 + cosine)) + (math.pi - torch.acos(cosine)) * cosine
        return long[:, None] * far * shape / (2 * math.pi)

    kernel = {"gaussian": gaussian, "relu": relu}[potential]

    def run(charges: Charges) -> Answer:
        x, c, w, b = (torch.from_numpy(part) for part in charges)
        x.requires_grad_(True)
        c.requires_grad_(True)
        value = 0.0
        for rows in blocks(len(x), ROWS["torch"]):
            near, weight = x[rows], c[rows]
            # The sum over j of the other electrons is differentiated in x_j too: each pair of
            # electrons is met from both sides.
            energy = weight @ (kernel(near, x, rows.start) @ c) - 2 * (
                weight @ (kernel(near, w, None) @ b)
            )
            if potential == "relu":  # put in |x|^2/2 for what the zeroed cosines gave
                energy = energy + (0.5 - 0.5 / math.pi) * (weight**2 @ (near * near).sum(1))
            energy.backward()
            value += float(energy.detach())
        return value, x.grad.numpy(), c.grad.numpy()

    return run


# -- KeOps: as its documentation has it, and as one fused reduction over all sources --------------


def keops_autograd_peer(potential: str, dim: int) -> Peer:
    """The two double sums as reductions, differentiated by KeOps and torch; Gaussian only.

    Its derivative of the angle is infinite at the self-pairs of relu.
    """
    if potential != "gaussian":
        raise ImportError("relu has no derivative at its self-pairs there")
    import torch
    from pykeops.torch import Genred

    formula = "Exp(-SqDist(x, y) * IntInv(2)) * b"
    aliases = [f"x = Vi({dim})", f"y = Vj({dim})", "b = Vj(1)"]
    reduce = Genred(formula, aliases, reduction_op="Sum", axis=1)

    def run(charges: Charges) -> Answer:
        x, c, w, b = (torch.from_numpy(part) for part in charges)
        x.requires_grad_(True)
        c.requires_grad_(True)
        push = reduce(x, x, c[:, None], backend="CPU")
        pull = reduce(x, w, b[:, None], backend="CPU")
        energy = c @ (push - 2 * pull)[:, 0]
        energy.backward()
        return float(energy.detach()), x.grad.numpy(), c.grad.numpy()

    return run


def keops_peer(potential: str, dim: int) -> Peer:
    """Value, potentials and forces are channels of a single reduction, derivatives by hand.

    relu works with h = 1 - cos t = |e - e'|^2/2 of unit vectors, exactly 0 at the self-pair.
    """
    from pykeops.numpy import Genred

    if potential == "gaussian":
        formula = "Exp(-SqDist(x, y) * IntInv(2)) * z"
        aliases = [f"x = Vi({dim})", f"y = Vj({dim})", f"z = Vj({dim + 2})"]
        reduce = Genred(formula, aliases, reduction_op="Sum", axis=1)

        def run(charges: Charges) -> Answer:
            x, c, _, _ = charges
            sources, charge, counted = _sources(charges)
            channels = np.concatenate([counted, charge[:, None] * sources], axis=1)
            sums = reduce(x, sources, channels, backend="CPU")
            force = sums[:, 2:] - sums[:, :1] * x
            return float(c @ sums[:, 1]), 2 * c[:, None] * force, 2 * sums[:, 0]

        return run

    # Phi is homogeneous of degree 1, so potentials are x.force: two channels are enough. KeOps sees
    # no common subexpressions: at d = 64 a sine is cheaper than a third squared distance.
    gap = "(SqDist(x, y) * IntInv(2))"
    angle = f"Acos(IntCst(1) - {gap})"
    sine = f"Sqrt({gap} * (IntCst(2) - {gap}))" if dim < 16 else f"Sin({angle})"
    formula = f"Concat({sine} * m, (p - {angle}) * z)"
    aliases = ["p = Pm(1)", f"x = Vi({dim})", f"y = Vj({dim})", "m = Vj(1)", f"z = Vj({dim})"]
    reduce = Genred(formula, aliases, reduction_op="Sum", axis=1)

    def run_relu(charges: Charges) -> Answer:
        x, c, w, b = charges
        long = np.linalg.norm(x, axis=1, keepdims=True)
        forces = []
        for y, beta in ((x, c), (w, b)):
            far = np.linalg.norm(y, axis=1, keepdims=True)
            scaled = beta[:, None] * y
            sums = reduce(
                np.array([math.pi]), x / long, y / far, far * beta[:, None], scaled, backend="CPU"
            )
            forces.append((sums[:, 1:] + sums[:, :1] / long * x) / (2 * math.pi))
        push, pull = (np.sum(x * force, axis=1) for force in forces)
        value = float(c @ push - 2 * c @ pull)
        return value, 2 * c[:, None] * (forces[0] - forces[1]), 2 * (push - pull)

    return run_relu


def _sources(charges: Charges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Electrons and protons as one list: places, charges, and charges counted for the value."""
    x, c, w, b = charges
    charge = np.concatenate([c, -b])
    counted = np.stack([charge, np.concatenate([c, -2 * b])], axis=1)
    return np.concatenate([x, w]), charge, counted
