"""Digests of results, to the last bit, in a process that has some number of threads.

`python tests/bits.py NAME...` prints {name: digest}, and how many threads XLA and BLAS have.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]


def digests(
    numbers: Iterable[int], names: Iterable[str], **environment: str
) -> list[dict[str, str]]:
    """What processes with so many threads print, each compiled by itself; side by side."""
    begun = [_begun(threads, names, environment) for threads in numbers]
    found = []
    for process in begun:
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        found.append(json.loads(printed.splitlines()[-1]))
    return found


def _begun(threads: int, names: Iterable[str], environment: dict[str, str]) -> subprocess.Popen:
    given = {
        "NPROC": str(threads),  # XLA's own name for it
        "OPENBLAS_NUM_THREADS": str(threads),
        "JAX_COMPILATION_CACHE_DIR": str(ROOT / ".jax_cache" / f"{threads}-threads"),
    }
    return subprocess.Popen(
        [sys.executable, __file__, *names],
        env={**os.environ, **given, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def energy() -> object:
    """The loss of 3000 units and its gradient, and of one unit among 8000."""
    import earnshaw as ew

    teacher = ew.random_teacher("gaussian", dim=10, units=100, seed=0)
    of_many = ew.population_loss(teacher).value_and_gradient(_student(3000, 10))
    crowd = ew.random_teacher("gaussian", dim=3, units=8000, seed=0)
    return of_many, ew.population_loss(crowd, "one-node").value_and_gradient(_student(1, 3))


def second_derivatives() -> object:
    """A Hessian-vector product and Laplacians of 1000 units."""
    import earnshaw as ew

    loss = ew.population_loss(ew.random_teacher("gaussian", dim=10, units=100, seed=0))
    student = _student(1000, 10)
    return loss.hvp(student, (student.positions, student.weights)), loss.laplacian(student)


def refit() -> object:
    """The best weights of 150 units: an eigenvalue problem for LAPACK."""
    import earnshaw as ew

    loss = ew.population_loss(ew.random_teacher("gaussian", dim=10, units=50, seed=0))
    return loss.refit(_student(150, 10))[0].weights


def samples() -> object:
    """A loss of 30,000 samples and its gradient, and its best weights."""
    import earnshaw as ew

    teacher = ew.random_teacher("relu", dim=10, units=20, seed=0)
    loss, student = ew.empirical_loss(teacher, 30_000), _student(70, 10)
    return loss.value_and_gradient(student), loss.refit(student)[0].weights


def regressor() -> object:
    """The units of NodewiseRegressor on 3000 rows, and what it predicts."""
    return _fitted("auto")


def _fitted(solver: str) -> object:
    from earnshaw.sklearn import NodewiseRegressor

    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((3000, 8)), rng.standard_normal((3, 8))
    y = np.sum(np.tanh(np.sum(x[:, None] * w, axis=2)), axis=1) + 0.1 * rng.standard_normal(3000)
    plain = {"activation": "tanh", "linear": False, "random_state": 0, "max_iter": 5}
    model = NodewiseRegressor(2, solver=solver, **plain).fit(x, y)
    return model.units_, model.weights_, model.predict(x)


def classifier() -> object:
    """The units of NodewiseClassifier on 3000 rows of four classes."""
    from earnshaw.sklearn import NodewiseClassifier

    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((3000, 8)), rng.standard_normal((4, 8))
    y = np.argmax(np.sum(x[:, None] * w, axis=2) + rng.standard_normal((3000, 4)), axis=1)
    model = NodewiseClassifier(2, activation="tanh", linear=False, random_state=0, max_iter=5)
    model.fit(x, y)
    return model.units_, model.weights_


def hunt() -> object:
    """Ten starts among 72 variables, whose Hessians are factorised."""
    import earnshaw as ew

    teacher = ew.random_teacher("gaussian", dim=4, units=18, seed=0)
    found = ew.hunt(teacher, starts=10, iterations=1000, fixed_charges=True)
    return found.ends, found.relative_losses, [point.smallest_eigenvalue for point in found.found]


def certificate() -> object:
    """The smallest of 240 eigenvalues."""
    import earnshaw as ew

    teacher = ew.random_teacher("gaussian", dim=10, units=24, seed=0)
    student = ew.Student(1.01 * teacher.positions, teacher.weights)
    found = ew.certify(teacher, student, wrt="positions")
    return found.gradient_norm, found.smallest_eigenvalue


def learn() -> object:
    """A network learned node by node, and one from samples of an unbounded activation."""
    import earnshaw as ew

    teacher = ew.random_teacher("almost-harmonic", dim=3, units=3, seed=0)
    runs = (ew.learn(teacher, seed=1), ew.learn(teacher, seed=1, samples=4000, units=3))
    return [(run.student.positions, run.student.weights) for run in runs]


def simulate() -> object:
    """The flow of 130 electrons among 100 protons: 1300 coordinates."""
    import earnshaw as ew

    teacher = ew.random_teacher("gaussian", dim=10, units=100, seed=0)
    path = ew.simulate(teacher, _student(130, 10), time=0.5, wrt="both")
    return path.times, path.positions, path.energy


def descent() -> object:
    """Ten steps of gradient descent and of SecondGD with 150 units."""
    import earnshaw as ew

    teacher = ew.random_teacher("gaussian", dim=10, units=100, seed=0)
    runs = [
        ew.learn(teacher, method, units=150, iterations=10, seed=1)
        for method in ("gd", "second-gd")
    ]
    return [(run.student.positions, run.student.weights) for run in runs]


def gradients() -> object:
    """L-BFGS and minibatches on 3000 rows."""
    return [_fitted(solver) for solver in ("lbfgs", "minibatch")]


def _student(units: int, dim: int) -> object:
    from earnshaw import Student

    rng = np.random.default_rng(units)
    return Student(rng.standard_normal((units, dim)), rng.standard_normal(units))


WORK: dict[str, Callable[[], object]] = {
    work.__name__: work
    for work in (
        energy,
        second_derivatives,
        refit,
        samples,
        regressor,
        classifier,
        hunt,
        certificate,
        learn,
        simulate,
        descent,
        gradients,
    )
}


def _digest(result: object) -> str:
    import jax

    found = hashlib.sha256()
    for leaf in jax.tree.leaves(result):
        found.update(np.ascontiguousarray(np.asarray(leaf, dtype=float)).tobytes())
    return found.hexdigest()


def _threads() -> int:
    """Of XLA's pool, by their name in Linux."""
    tasks = Path("/proc/self/task").glob("*/comm")
    return sum(task.read_text().strip() == "tf_XLAEigen" for task in tasks)


if __name__ == "__main__":
    made = {name: _digest(WORK[name]()) for name in sys.argv[1:]}
    print(json.dumps({**made, "threads": _threads()}))
