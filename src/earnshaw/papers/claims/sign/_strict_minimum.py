"""A strict bad minimum of the distance potential, with all units in different places, proved.

Phi = -|x - y| in the plane, three protons, and as many student units at equal total charge: two at
protons, the third at a point p where no charge is. With q_j = b_j less the weight of the unit at
w_j, the field that unit 3 feels is C(x) = -sum_j q_j |x - w_j|, and such a point is critical in
what is smooth when

    grad C(p) = 0,   C = lambda at the places of all three units,   sum c = sum b.

Six equations, six unknowns (p, c, lambda). Krawczyk's test in ball arithmetic proves that a box
holds exactly one solution; over the box the Hessian of L/2 in p and in weights of constant sum is
positive definite (all pivots are positive), and the units at protons are held, sgn(c) b_j > |g|. So
L grows at first order where units leave their protons and at second order in all else: a strict
local minimum; and L > 0 there, by another enclosure.
"""

from __future__ import annotations

import numpy as np
from flint import arb, arb_mat

from earnshaw.charges.network import Student, Teacher
from earnshaw.duality.families.distance import Distance
from earnshaw.energy.population import population_loss
from earnshaw.papers.claims.claim import Finding, Instance

BOX = 1e-9  # half the width of the box
ZERO = arb(0)


def draw_strict(rng: np.random.Generator, index: int) -> Instance:
    """Protons (0, 0), (0, 3), (-3, 2) of charges -3/4, -1, 5/4; then others near these."""
    noise = 0.0 if index == 0 else 3e-3
    protons = np.array([[0.0, 0.0], [0.0, 3.0], [-3.0, 2.0]]) + noise * rng.standard_normal((3, 2))
    charges = np.array([-0.75, -1.0, 1.25]) + noise * rng.standard_normal(3)
    start = [-3.44005, -1.81031, -1.336841, 0.706296, 0.130545, -0.5]
    return {"protons": protons, "charges": charges, "at": [0, 2], "start": start}


def is_no_strict_minimum(instance: Instance) -> Finding:
    """Holds unless the proof goes through."""
    w, b = (np.asarray(instance[name], dtype=float) for name in ("protons", "charges"))
    at = [int(one) for one in instance["at"]]
    point = _newton(w, b, at, np.asarray(instance["start"], dtype=float))
    box = [arb(float(one), BOX) for one in point]
    inside, worst = _krawczyk(w, b, at, point, box)
    pivot = _least_pivot(_hessian(w, b, at, box))
    margin = _least_margin(w, b, at, box)
    value = _loss(w, b, at, box)
    student = Student(np.concatenate([w[at], point[None, :2]]), point[2:5])
    library = float(population_loss(Teacher(w, b, Distance(2))).value(student))
    numbers = {
        "loss": float(value.mid()),
        "margin": float(margin.mid()),
        "pivot": float(pivot.mid()),
        "contraction": worst,
        "library_error": abs(library - float(value.mid())),
    }
    if numbers["library_error"] > 1e-7:
        return Finding(None, numbers, "the library has another loss")
    return Finding(not (inside and pivot > 0 and margin > 0 and value > 0), numbers)


def _distances(w: np.ndarray, x: list[arb]) -> tuple[list[list[arb]], list[arb]]:
    """x - w_j and its length, for all j."""
    gaps = [[x[0] - float(p[0]), x[1] - float(p[1])] for p in w]
    return gaps, [(g[0] * g[0] + g[1] * g[1]).sqrt() for g in gaps]


def _residual_charges(b: np.ndarray, at: list[int], z: list[arb]) -> list[arb]:
    q = [arb(float(charge)) for charge in b]
    for unit, home in enumerate(at):
        q[home] = q[home] - z[2 + unit]
    return q


def _equations(w: np.ndarray, b: np.ndarray, at: list[int], z: list[arb]) -> list[arb]:
    """The six equations of the module's docstring."""
    q = _residual_charges(b, at, z)
    gaps, far = _distances(w, z[:2])
    equations = [-sum((q[j] * gaps[j][i] / far[j] for j in range(3)), ZERO) for i in range(2)]
    for home in at:
        between = _distances(w, [arb(float(w[home, 0])), arb(float(w[home, 1]))])[1]
        others = sum((q[j] * between[j] for j in range(3) if j != home), ZERO)
        equations.append(z[4] * far[home] - others - z[5])
    equations.append(-sum((q[j] * far[j] for j in range(3)), ZERO) - z[5])
    equations.append(z[2] + z[3] + z[4] - sum((arb(float(one)) for one in b), ZERO))
    return equations


def _jacobian(w: np.ndarray, b: np.ndarray, at: list[int], z: list[arb]) -> arb_mat:
    q = _residual_charges(b, at, z)
    gaps, far = _distances(w, z[:2])
    unit = [[g / r for g in gap] for gap, r in zip(gaps, far, strict=True)]
    rows = [[ZERO] * 6 for _ in range(6)]
    for i in range(2):
        for k in range(2):
            same = 1 if i == k else 0
            rows[i][k] = -sum(
                (q[j] * (same - unit[j][i] * unit[j][k]) / far[j] for j in range(3)), ZERO
            )
        for column, home in enumerate(at):
            rows[i][2 + column] = unit[home][i]
            rows[2 + column][i] = z[4] * unit[home][i]
        rows[4][i] = -sum((q[j] * unit[j][i] for j in range(3)), ZERO)
    between = _distances(w, [arb(float(w[at[0], 0])), arb(float(w[at[0], 1]))])[1][at[1]]
    for row, home in enumerate(at):
        rows[2 + row][3 - row] = between
        rows[2 + row][4] = rows[4][2 + row] = far[home]
    for row in (2, 3, 4):
        rows[row][5] = arb(-1)
        rows[5][row] = arb(1)
    return arb_mat(rows)


def _newton(w: np.ndarray, b: np.ndarray, at: list[int], start: np.ndarray) -> np.ndarray:
    """The solution in floating point."""
    point = start
    for _ in range(30):
        z = [arb(float(one)) for one in point]
        value = np.array([float(one.mid()) for one in _equations(w, b, at, z)])
        point = point - np.linalg.solve(_middle(_jacobian(w, b, at, z)), value)
    return point


def _middle(matrix: arb_mat) -> np.ndarray:
    return np.array([[float(one.mid()) for one in row] for row in matrix.tolist()])


def _krawczyk(
    w: np.ndarray, b: np.ndarray, at: list[int], point: np.ndarray, box: list[arb]
) -> tuple[bool, float]:
    """Whether -Y G(m) + (I - Y J(box)) (box - m) is inside box - m; and how much of it it fills."""
    middle = [arb(float(one)) for one in point]
    inverse = np.linalg.inv(_middle(_jacobian(w, b, at, middle)))
    y = arb_mat([[arb(float(one)) for one in row] for row in inverse])
    value = arb_mat([[one] for one in _equations(w, b, at, middle)])
    identity = arb_mat([[arb(int(i == j)) for j in range(6)] for i in range(6)])
    spread = arb_mat([[arb(0, BOX)] for _ in range(6)])
    image = -(y * value) + (identity - y * _jacobian(w, b, at, box)) * spread
    sizes = [abs(image[i, 0]) for i in range(6)]
    return all(size < BOX for size in sizes), max(float(size.upper()) for size in sizes) / BOX


def _hessian(w: np.ndarray, b: np.ndarray, at: list[int], z: list[arb]) -> arb_mat:
    """Of L/2 over p and weights of constant sum: its gradient is (-c_3 grad C(p), -C(x_i))."""
    jacobian, slope = _jacobian(w, b, at, z), [-z[4]] * 2 + [arb(-1)] * 3
    whole = arb_mat([[slope[i] * jacobian[i, j] for j in range(5)] for i in range(5)])
    for i in range(2):  # symmetric: the derivative of -c_3 grad C by c_3
        whole[i, 4] = whole[4, i]
    basis = arb_mat([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, -1, -1]])
    return basis.transpose() * whole * basis


def _least_pivot(matrix: arb_mat) -> arb:
    """Of Gaussian elimination: a symmetric matrix is positive definite if all are positive."""
    rows, least = matrix.tolist(), arb(10) ** 9
    for i in range(len(rows)):
        least = least.min(rows[i][i])
        if not rows[i][i] > 0:
            return least
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * c for a, c in zip(rows[j], rows[i], strict=True)]
    return least


def _least_margin(w: np.ndarray, b: np.ndarray, at: list[int], z: list[arb]) -> arb:
    """sgn(c) b_j - |g| of the units at protons."""
    q, (gaps, far), least = _residual_charges(b, at, z), _distances(w, z[:2]), arb(10) ** 9
    for unit, home in enumerate(at):
        here = [arb(float(w[home, 0])), arb(float(w[home, 1]))]
        away, between = _distances(w, here)
        force = [
            -sum((q[j] * away[j][i] / between[j] for j in range(3) if j != home), ZERO)
            - z[4] * gaps[home][i] / far[home]
            for i in range(2)
        ]
        side = 1 if z[2 + unit] > 0 else -1
        size = (force[0] * force[0] + force[1] * force[1]).sqrt()
        least = least.min(side * arb(float(b[home])) - size)
    return least


def _loss(w: np.ndarray, b: np.ndarray, at: list[int], z: list[arb]) -> arb:
    """L = -sum q_i q_j r_ij over protons, and the free unit's part."""
    q, far = _residual_charges(b, at, z), _distances(w, z[:2])[1]
    total = sum((2 * z[4] * q[j] * far[j] for j in range(3)), ZERO)
    for i in range(3):
        between = _distances(w, [arb(float(w[i, 0])), arb(float(w[i, 1]))])[1]
        total = total - sum((q[i] * q[j] * between[j] for j in range(3) if j != i), ZERO)
    return total
