"""Newton's method and Gauss's, on all units at once.

Saddle-free Newton steps bring the last digits of what another method found:

    x <- x - t |H|^-1 grad L,    |H| the Hessian with the sizes of its eigenvalues,

t = 1, 1/2, 1/4, ... until the loss falls. Near a minimum with a regular Hessian the number of right
digits doubles each step. Directions in which the Hessian is flat (a relu unit longer with a smaller
weight) are left alone. For smooth potentials only, and for some hundreds of coordinates: the dense
Hessian takes as many Hessian-vector products, and its eigenvectors the cube of their number.

Further away Levenberg and Marquardt's steps in the metric of functions (`gauss_newton`) serve
better:

    x <- x - (G + t diag G)^-1 grad L / 2,    G = E[grad g grad g^T],

the least of |f - g|^2 with g replaced by its tangent, t for how far the tangent is trusted. It
needs no samples: G is made of the student's charges alone (`Objective.metric`), whatever they are
to learn. Units that nearly coincide, or are saturated, make L a narrow valley in which a
quasi-Newton method creeps: ten erf units with biases in d = 5 were never learned by BFGS
(`benchmarks/networks.py --only recovery`). t falls after a step that did what the tangent promised
and rises after one that did not (Marquardt, J. SIAM 11, 1963; diag G after More, 1978). Optimistix
and SciPy have the method for a list of residuals, which an exact loss does not have.

`refine` is what node-wise learning needs of both. While units are missing, the best place of a
free unit is pulled aside by those that overlap with it. For potentials without cusps some steps of
all positions and weights after each round take that back, as in sliding Frank-Wolfe methods for
sparse measures (Denoyelle, Duval, Peyre and Soubies, Inverse Problems 36, 2020): those of
`gauss_newton`, or of BFGS (Optimistix) where there are too many coordinates for a dense metric.
Near the end Newton's method takes over. At a cusp there is nothing to mend: the place of the
maximum is that of the charge.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import Student
from earnshaw.descent.loop import begin, run
from earnshaw.descent.method import (
    RUNNING,
    Method,
    State,
    Stop,
    accepted,
    by_unit,
    dot,
    move,
    norm,
)
from earnshaw.energy.objective import (
    Gradient,
    Objective,
    coordinates_of,
    direction_of,
    energy,
    freedom,
    of_units,
)
from earnshaw.numerics.compiled import compiled

FLAT = 1e-11  # eigenvalues below this part of the largest are rounding
SHORTEST = 2.0**-20  # the last t that is tried
PROMISE = 1e-4  # the part of the predicted decrease that a step must make (Armijo's condition)
CLOSE = 1e-6  # part of the first loss below which Newton's method takes over
DENSE = 1500  # coordinates up to which a dense Hessian or metric is affordable
NEWTON_STEPS = 30  # at most

FIRST_DAMPING = 1e-3  # t of Levenberg and Marquardt
LEAST, MOST = 1e-16, 1e8  # of the damping
GOOD, POOR = 0.75, 0.25  # parts of the promised decrease
IDLE, GAIN = 8, 1e-2  # steps in a row that took less than this part of the loss away: the end
SMALLEST = 1e-8  # part of the largest scale below which a coordinate counts as having none


class Newton(Method):
    """Stops where |grad L| <= tolerance, or where no step lowers the loss or the gradient.

    Units that are not `used` (k,) stay where they are: room for units to come. `at_the_end` says
    that nearly nothing is left of the loss, so that 2 G is as good as the Hessian.
    """

    looks_at_curvature: ClassVar[bool] = True
    tolerance: Array = eqx.field(default=1e-14, converter=jnp.asarray)
    used: Array | None = None
    at_the_end: bool = eqx.field(static=True, default=False)

    def init(self, objective: Objective, student: Student) -> State:
        state = super().init(objective, student)
        return eqx.tree_at(lambda s: s.gradient, state, self._of_used(state.gradient))

    def _of_used(self, direction: Gradient) -> Gradient:
        """The direction, 0 for units that are not used."""
        if self.used is None:
            return direction
        return Gradient(
            jnp.where(self.used[:, None], direction.positions, 0.0),
            jnp.where(by_unit(self.used, direction.weights), direction.weights, 0.0),
        )

    def step(self, objective: Objective, state: State, key: Array) -> State:
        used = jnp.ones(state.student.units, dtype=bool) if self.used is None else self.used
        direction = newton_direction(objective, state, used, self.at_the_end)
        slope = dot(direction, state.gradient)
        rounding = 1e-15 * jnp.abs(state.value) + 1e-300

        def attempt(size: Array) -> tuple[Array, State, Array]:
            student = move(objective, state.student, direction, size)
            value, gradient = objective.value_and_gradient(student)
            gradient = self._of_used(gradient)
            falls = value <= state.value + PROMISE * size * slope - rounding
            # Where the loss is all rounding, the gradient still tells up from down.
            calms = (value <= state.value + rounding) | (jnp.abs(slope) < 1e-13)
            better = falls | (calms & (norm(gradient) < 0.9 * state.gradient_norm))
            moved = eqx.tree_at(
                lambda s: (s.student, s.value, s.gradient, s.step_size),
                state,
                (student, value, gradient, size),
            )
            return size, moved, better

        def searching(last: tuple[Array, State, Array]) -> Array:
            return ~last[2] & (last[0] > SHORTEST)

        # It begins as if twice the length had failed, so that an attempt is compiled once.
        before = (jnp.asarray(2.0), state, jnp.asarray(False))
        _, moved, good = jax.lax.while_loop(searching, lambda last: attempt(last[0] / 2), before)
        small = moved.gradient_norm <= self.tolerance
        stop = jnp.where(small, Stop.STATIONARY.code, RUNNING)
        stop = jnp.where(good, stop, Stop.NO_DECREASE.code)
        return accepted(state, moved, good, stop)


def newton_direction(
    objective: Objective, state: State, used: Array, at_the_end: bool = False
) -> Gradient:
    """-|H|^-1 grad L over the units that are `used`, as a tangent direction.

    `at_the_end` H = 2 G: the rest of it is E[(g - f) Hess g], and f - g is nearly 0.
    """
    slope = coordinates_of(objective, state.student, state.gradient)
    moving = of_units(objective, state.student, used)
    if at_the_end:
        hessian = 2 * objective.metric(state.student)
    else:
        hessian = objective.hessian(state.student)
    hessian = jnp.where(moving[:, None] & moving, hessian, 0.0)
    values, vectors = jnp.linalg.eigh(hessian)
    sizes = jnp.abs(values)
    curved = sizes > FLAT * jnp.max(sizes)
    inverse = jnp.where(curved, 1 / jnp.where(curved, sizes, 1.0), 0.0)
    step = -vectors @ (inverse * (vectors.T @ slope))
    return direction_of(objective, state.student, step)


class _Descent(NamedTuple):
    student: Student
    value: Array
    slope: Array
    damping: Array
    now: Array
    idle: Array


@compiled
def gauss_newton(
    objective: Objective, student: Student, used: Array, steps: int
) -> tuple[Student, Array]:
    """The student after at most `steps` steps of its `used` units (k,), and its loss.

    Fewer where little is gained; units that are not used stay, with weight 0.
    """
    moving = of_units(objective, student, used)
    both = moving[:, None] & moving

    def look(student: Student) -> tuple[Array, Array]:
        value, gradient = objective.value_and_gradient(student)
        return value, jnp.where(moving, coordinates_of(objective, student, gradient), 0.0)

    def step(here: _Descent) -> _Descent:
        metric = objective.metric(here.student)
        scale = jnp.sqrt(jnp.maximum(jnp.diagonal(metric), 0.0))
        scale = jnp.where(moving, jnp.maximum(scale, SMALLEST * jnp.max(scale)), 1.0)
        scaled = jnp.where(both, metric / scale[:, None] / scale, 0.0)
        matrix = jnp.fill_diagonal(scaled, 1 + here.damping, inplace=False)
        down = -here.slope / scale / 2
        # Where rounding leaves the matrix indefinite this is NaN, no step, and more damping.
        scaled_step = jax.scipy.linalg.solve(matrix, down, assume_a="pos")
        promised = scaled_step @ (down + here.damping * scaled_step)
        direction = direction_of(objective, here.student, scaled_step / scale)
        moved = move(objective, here.student, direction, jnp.ones(()))
        # The first step goes nowhere: it only looks at the start, so that this is compiled once.
        begun = here.now >= 0
        moved = jax.tree.map(lambda new, old: jnp.where(begun, new, old), moved, here.student)
        value, slope = look(moved)
        gained = here.value - value
        falls = (gained > 0) | ~begun
        trust = jnp.where(gained > GOOD * promised, 0.2, jnp.where(gained < POOR * promised, 2, 1))
        change = jnp.where(begun, jnp.where(falls, trust, 4.0), 1.0)
        damping = jnp.clip(here.damping * change, LEAST, MOST)
        student, value, slope = jax.tree.map(
            lambda new, old: jnp.where(falls, new, old),
            (moved, value, slope),
            (here.student, here.value, here.slope),
        )
        idle = jnp.where(begun & ~(falls & (gained > GAIN * here.value)), here.idle + 1, 0)
        return _Descent(student, value, slope, damping, here.now + 1, idle)

    def going(here: _Descent) -> Array:
        return (here.now < steps) & (here.idle < IDLE) & (here.value > 0)

    weights = jnp.where(by_unit(used, student.weights), student.weights, 0.0)
    start = Student(student.positions, weights)
    zero = jnp.zeros((), dtype=int)
    unknown = jnp.asarray(jnp.inf), jnp.zeros(moving.shape)
    first = _Descent(start, *unknown, jnp.asarray(FIRST_DAMPING), zero - 1, zero)
    end = jax.lax.while_loop(going, step, first)
    return end.student, end.value


def refine(
    objective: Objective, student: Student, used: Array, steps: int, first_loss: float
) -> tuple[Student, Array]:
    """The student after at most `steps` steps of its `used` units together, and its loss.

    Where less than a millionth of `first_loss` is left, Newton's method adds the last digits.
    """
    dense = freedom(objective, student) <= DENSE
    descend = gauss_newton if dense else _quasi_newton
    student, value = descend(objective, student, used, steps)
    if float(value) > CLOSE * first_loss:
        return student, value
    return newton_to_rounding(objective, student, used)


@compiled
def _quasi_newton(
    objective: Objective, student: Student, used: Array, steps: int
) -> tuple[Student, Array]:
    def unpacked(flat: tuple[Array, Array]) -> Student:
        positions, weights = flat
        positions = objective.manifold.project(positions)
        kept = jnp.where(used[:, None], positions, student.positions)
        return Student(kept, jnp.where(by_unit(used, weights), weights, 0.0))

    def loss(flat: tuple[Array, Array], _: None) -> Array:
        return energy(objective, unpacked(flat))

    import optimistix  # takes a third of a second to load, and cusps need none of it

    start = (student.positions, student.weights)
    found: Any = optimistix.minimise(
        loss, optimistix.BFGS(rtol=1e-12, atol=1e-12), start, max_steps=steps, throw=False
    )
    before, after = loss(start, None), loss(found.value, None)
    better = after < before
    chosen = jax.tree.map(lambda new, old: jnp.where(better, new, old), found.value, start)
    return unpacked(chosen), jnp.where(better, after, before)


def newton_to_rounding(
    objective: Objective, student: Student, used: Array
) -> tuple[Student, Array]:
    """The student after Newton's method on its `used` units, and its loss.

    Unchanged where there are too many coordinates for a dense metric.
    """
    if freedom(objective, student) > DENSE:
        return student, objective.value(student)
    method = Newton(used=used, at_the_end=True)
    batch = Student(student.positions[None], student.weights[None])
    loop = begin(method, objective, batch, jax.random.key(0, impl="threefry2x32"))
    loop, interrupted = run(method, objective, loop, NEWTON_STEPS)
    if interrupted:
        raise KeyboardInterrupt
    moved = loop.states.student
    return Student(moved.positions[0], moved.weights[0]), loop.states.value[0]
