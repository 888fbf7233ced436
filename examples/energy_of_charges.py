"""The loss of a student is an energy of charges: exact, with forces, stiffness and a best answer.

Four student units among the three of a relu teacher in R^5. The population loss needs no samples; a
sampled one has error bars around it. Optimal weights and a few Newton steps on all coordinates then
lower it, and matching says which unit found which.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

import earnshaw as ew


def main() -> None:
    """Print the exact and a sampled loss, then descend, and match."""
    teacher = ew.random_teacher("relu", dim=5, units=3, seed=0, weights="ones")
    student = ew.random_student(teacher, units=4, seed=1)
    loss = ew.population_loss(teacher)
    sampled = ew.empirical_loss(teacher, samples=100_000, seed=2)
    print(f"exact loss {loss.value(student):.5f}, from 100000 samples {sampled.value(student):.5f}")

    student = loss.optimal_weights(student)
    print(f"with the best weights at the same positions {loss.value(student):.5f}")

    for _ in range(60):
        student = damped_newton_step(loss, student)
    value, gradient = loss.value_and_gradient(student)
    print(f"after Newton steps {value:.1e}, gradient {jnp.linalg.norm(gradient.positions):.1e}")

    matching = ew.match(teacher, student)
    for unit in matching.recovered():
        print("teacher unit {unit}: distance {distance:.1e}".format(**unit))


def damped_newton_step(loss: ew.PopulationLoss, student: ew.Student) -> ew.Student:
    """Newton's step with |eigenvalues|, halved until the loss falls."""
    value, gradient = loss.value_and_gradient(student)
    eigenvalues, vectors = jnp.linalg.eigh(loss.hessian(student))
    slope = vectors.T @ jnp.concatenate([gradient.positions.ravel(), gradient.weights])
    stiff = jnp.abs(eigenvalues)
    step = -vectors @ (slope / jnp.maximum(stiff, 1e-6 * jnp.max(stiff)))
    moves, changes = np.split(np.asarray(step), [student.positions.size])
    for scale in 0.5 ** np.arange(30):
        moved = ew.Student(
            student.positions + scale * moves.reshape(student.positions.shape),
            student.weights + scale * changes,
        )
        if loss.value(moved) < value:
            return moved
    return student


if __name__ == "__main__":
    main()
