"""Objectives that are functions of one point, and how tests of descent run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.manifolds import Manifold, Space
from earnshaw.charges.network import Student
from earnshaw.descent.loop import Loop, begin, run
from earnshaw.descent.method import Method, State
from earnshaw.energy.objective import Gradient, Moving, Objective


class Toy(Objective):
    """x -> function(x, *parameters) of the only unit; `traces` counts how often it was traced."""

    manifold: Manifold
    wrt: Moving = eqx.field(static=True)
    name: str = eqx.field(static=True)
    teacher: None
    parameters: tuple
    function: Callable[..., Array] = eqx.field(static=True)
    size: int = eqx.field(static=True)
    traces: Any = eqx.field(static=True)

    def __init__(
        self,
        parameters: tuple,
        function: Callable[..., Array],
        size: int = 2,
        traces: Any = None,
    ) -> None:
        self.manifold, self.wrt, self.name, self.teacher = Space(), "positions", "toy", None
        self.parameters, self.function, self.size, self.traces = parameters, function, size, traces

    @property
    def dim(self) -> int:
        return self.size

    def euclidean(self, student: Student) -> tuple[Array, Gradient]:
        if self.traces is not None:
            self.traces.count += 1
        value, slope = jax.value_and_grad(self.function)(student.positions[0], *self.parameters)
        return value, Gradient(slope[None], jnp.zeros_like(student.weights))

    def empty_value(self) -> Array:
        return jnp.zeros(())

    def euclidean_hvp(self, student: Student, direction: Gradient) -> Gradient:
        slope = lambda x: jax.grad(self.function)(x, *self.parameters)  # noqa: E731
        bent = jax.jvp(slope, (student.positions[0],), (direction.positions[0],))[1]
        return Gradient(bent[None], jnp.zeros_like(student.weights))


# Of the protocol a descent uses value, derivatives and scale alone; the rest may stay abstract.
Toy.__abstractmethods__ = frozenset()


class Traces:
    """A counter."""

    def __init__(self) -> None:
        self.count = 0


def quadratic(x: Array, matrix: Array) -> Array:
    """x.A x / 2."""
    return x @ matrix @ x / 2


def saddle(x: Array) -> Array:
    """A strict saddle at 0 between minima at (+-1, 0), with Hessian diag(-1, 1) and diag(2, 1)."""
    return (x[0] ** 4 - 2 * x[0] ** 2 + 2 * x[1] ** 2) / 4


def point(*coordinates: float) -> Student:
    """A student of one unit of weight 1."""
    return Student(jnp.asarray([coordinates]), jnp.ones(1))


def batch(*students: Student) -> Student:
    """Several starts as one, with a leading axis."""
    return jax.tree.map(lambda *parts: jnp.stack(parts), *students)


def seed(number: int = 0) -> Array:
    return jax.random.key(number, impl="threefry2x32")


def descend(
    method: Method, objective: Objective, starts: Student, iterations: int, key: int = 0
) -> Loop:
    """A run of all starts without interruption."""
    return run(method, objective, begin(method, objective, starts, seed(key)), iterations)[0]


@eqx.filter_jit
def one_step(method: Method, objective: Objective, student: Student) -> tuple[State, State]:
    """The states before and after the first step."""
    before = method.init(objective, student)
    return before, method.step(objective, before, seed())
