"""The loss of a `Problem`, its gradient and its Hessian, enclosed over a box of offsets.

    L = sum_il c_i c_l Phi(theta_i, theta_l) - 2 sum_ij c_i b_j Phi(theta_i, w_j)
        + sum_jm b_j b_m Phi(w_j, w_m) + ridge |c|^2

is summed over pairs with derivatives in vectors of R^d, which charts then carry over to variables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from flint import arb, arb_mat

from earnshaw.landscape.proofs._charts import Placed
from earnshaw.landscape.proofs.problem import Problem


class Jet(NamedTuple):
    """The gradient (n, 1) and Hessian (n, n) in the variables."""

    gradient: arb_mat
    hessian: arb_mat


def loss(problem: Problem, offset: Sequence[arb]) -> arb:
    """A ball that holds the loss of the student at `offset` from the centre."""
    kernel, (b, w) = problem.kernel, problem.protons()
    c, placed = problem.place(offset)
    theta = [unit.position for unit in placed]
    total = arb(0)
    for charges, places in ((c, theta), (b, w)):
        for i, x in enumerate(places):
            total += charges[i] ** 2 * kernel.alone(x).value
            for other in range(i):
                total += 2 * charges[i] * charges[other] * kernel.value(x, places[other])
    for i, x in enumerate(theta):
        total += c[i] ** 2 * problem.ridge
        for j, y in enumerate(w):
            if b[j] == 0:  # it may be where a unit is, and is not there for it
                continue
            total -= 2 * c[i] * b[j] * _to_proton(problem, i, j, x, y)
    return total


def jet(problem: Problem, offset: Sequence[arb]) -> Jet:
    """The gradient and Hessian of L in the variables."""
    kernel, (b, w) = problem.kernel, problem.protons()
    c, placed = problem.place(offset)
    sums = _Sums(problem.teacher.dim)
    for i, here in enumerate(placed):
        own = kernel.alone(here.position)
        sums.charge(i, i, c[i], own.value + problem.ridge)
        if i in problem.first:
            sums.forces[i] += own.gradient * c[i] ** 2
            sums.bends[i, i] += own.hessian * c[i] ** 2
            sums.slopes[i, i] += own.gradient * (2 * c[i])
        for j, y in enumerate(w):
            if b[j] == 0:
                continue
            if i not in problem.first:
                sums.by_weight[i] -= 2 * b[j] * _to_proton(problem, i, j, here.position, y)
                continue
            pair = kernel.jet(here.position, y)
            sums.by_weight[i] -= 2 * b[j] * pair.value
            sums.forces[i] -= pair.in_x * (2 * b[j] * c[i])
            sums.bends[i, i] -= pair.in_xx * (2 * b[j] * c[i])
            sums.slopes[i, i] -= pair.in_x * (2 * b[j])
        for other, there in enumerate(placed[:i]):
            if i not in problem.first and other not in problem.first:
                value = kernel.value(here.position, there.position)
            else:
                pair = kernel.jet(here.position, there.position)
                value, both = pair.value, 2 * c[i] * c[other]
                sums.forces[i] += pair.in_x * both
                sums.forces[other] += pair.in_y * both
                sums.bends[i, i] += pair.in_xx * both
                sums.bends[i, other] += pair.in_xy * both
                sums.bends[other, other] += pair.in_yy * both
                sums.slopes[i, i] += pair.in_x * (2 * c[other])
                sums.slopes[other, i] += pair.in_x * (2 * c[i])
                sums.slopes[i, other] += pair.in_y * (2 * c[other])
                sums.slopes[other, other] += pair.in_y * (2 * c[i])
            sums.charge(i, other, c[other], value)
            sums.charge(other, i, c[i], value)
    return sums.carried(problem, placed)


class _Sums:
    """Derivatives of L in weights and in positions as vectors of R^d."""

    def __init__(self, dim: int) -> None:
        self.by_weight: dict[int, arb] = defaultdict(arb)  # dL/dc_i
        self.by_weights: dict[tuple[int, int], arb] = defaultdict(arb)  # d2L/dc_i dc_l
        self.forces: dict[int, arb_mat] = defaultdict(lambda: arb_mat(dim, 1))  # dL/dtheta_i
        self.slopes: dict[tuple[int, int], arb_mat] = defaultdict(  # d2L/dc_l dtheta_i
            lambda: arb_mat(dim, 1)
        )
        self.bends: dict[tuple[int, int], arb_mat] = defaultdict(  # d2L/dtheta_i dtheta_l, l <= i
            lambda: arb_mat(dim, dim)
        )

    def charge(self, i: int, other: int, weight: arb, value: arb) -> None:
        """What the weight of `other` does to that of i, at a potential between them."""
        self.by_weight[i] += 2 * weight * value
        self.by_weights[i, other] += 2 * value

    def carried(self, problem: Problem, placed: Sequence[Placed]) -> Jet:
        """The same in the variables."""
        size, first = problem.variables, problem.first
        gradient, hessian = arb_mat(size, 1), arb_mat(size, size)

        def put(block: arb_mat, row: int, start: int) -> None:
            for a in range(block.nrows()):
                for b in range(block.ncols()):
                    hessian[row + a, start + b] = hessian[start + b, row + a] = block[a, b]

        for i, row in first.items():
            slope = placed[i].gradient(self.forces[i])
            for a in range(problem.degrees):
                gradient[row + a, 0] = slope[a, 0]
            put(placed[i].curvature(self.bends[i, i], self.forces[i]), row, row)
            for other in first:
                if other < i:
                    put(placed[i].mixed(self.bends[i, other], placed[other]), row, first[other])
        if problem.weights_move:
            for i, value in self.by_weight.items():
                gradient[i, 0] = value
            for (i, other), value in self.by_weights.items():
                hessian[i, other] = value
            for (weight, i), slope in self.slopes.items():
                if i in first:
                    put(placed[i].gradient(slope), first[i], weight)
        return Jet(gradient, hessian)


def _to_proton(problem: Problem, i: int, j: int, x: arb_mat, y: arb_mat) -> arb:
    """Phi(theta_i, w_j), also where unit i sits on proton j."""
    if problem.sits_on(i, j):
        return problem.kernel.alone(y).value
    return problem.kernel.value(x, y)
