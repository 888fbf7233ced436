"""Value and force of up to a million electrons among as many protons, in d = 1, 2, 3.

    python benchmarks/million.py                             # everything: an hour or more
    python benchmarks/million.py --dims 3 --units 10000 100000 --potentials gaussian

One value and gradient of the loss (`without-constants`: all pairs of electrons, and of electrons
and protons) by fast sums, charges of both signs, uniform in a box of volume 1000, so that a million
have 4 others of their own kind in a core of radius 0.1 in d = 3. Every case runs in a process of
its own, which is how its peak of memory is known. Beside it

- the error of the force on 1000 of the electrons, chosen at random, against sums from differences
  over all charges, in units of the largest force (per charge) on these;
- tiles at the number of units of `--tiles`, in the same process, times the square of the ratio;
- the growth: the power of k between the first and the last size.

A call with fewer electrons before, which compiles most of it, is not counted. KeOps is not
compared: it is not installed where this was last run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from typing import Any

VOLUME = 1000.0


def charges(units: int, dim: int, seed: int) -> tuple[Any, Any]:
    """Positions uniform in the box, (units, dim), and normal weights (units,)."""
    import numpy as np

    rng = np.random.default_rng(seed)
    side = VOLUME ** (1 / dim)
    return rng.uniform(-side / 2, side / 2, (units, dim)), rng.standard_normal(units)


def problem(units: int, dim: int, potential: str, sums: str, seed: int = 0) -> tuple[Any, Any]:
    """A loss and a student of as many units as the teacher."""
    import earnshaw as ew

    teacher = ew.Teacher(*charges(units, dim, 2 * seed), potential)
    loss = ew.population_loss(teacher, "without-constants", sums=sums)
    return loss, ew.Student(*charges(units, dim, 2 * seed + 1))


def timed(loss: Any, student: Any) -> tuple[float, Any]:
    """Seconds of one value and gradient, and the gradient."""
    import jax

    start = time.perf_counter()
    _, gradient = jax.block_until_ready(loss.value_and_gradient(student))
    return time.perf_counter() - start, gradient


def exact_forces(loss: Any, student: Any, chosen: Any) -> Any:
    """sum_j q_j grad Phi(x - y_j) over electrons and protons at chosen electrons, differences."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    coupling = loss.field.coupling
    y = np.concatenate([student.positions, loss.teacher.positions])
    q = np.concatenate([student.weights, -loss.teacher.weights])

    @jax.jit
    def block(x: Any, y: Any, q: Any) -> Any:
        return jnp.einsum("ijd,j->id", coupling.exact(x[:, None], y)[1], q)

    size, x = 20_000, jnp.asarray(np.asarray(student.positions)[chosen])
    extra = -len(q) % size
    y, q = np.pad(y, ((0, extra), (0, 0))), np.pad(q, (0, extra))
    total = np.zeros(x.shape)
    for begin in range(0, len(q), size):
        total += np.asarray(block(x, y[begin : begin + size], q[begin : begin + size]))
    return total


def one(units: int, dim: int, potential: str, tiles: int, checked: int) -> dict[str, Any]:
    """One case, with its error and what tiles take."""
    import numpy as np

    import earnshaw as ew

    loss, student = problem(units, dim, potential, "fast")
    timed(loss, ew.Student(*charges(min(units, 20_000), dim, 7)))
    seconds, gradient = timed(loss, student)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    chosen = np.random.default_rng(1).choice(units, min(checked, units), replace=False)
    forces = exact_forces(loss, student, chosen)
    found = np.asarray(gradient.positions)[chosen] / (2 * np.asarray(student.weights)[chosen, None])
    error = float(np.max(np.abs(found - forces)) / np.max(np.abs(forces)))
    made = {"potential": potential, "dim": dim, "units": units, "seconds": seconds}
    made |= {"error": error, "gibibytes": peak}
    if tiles:
        timed(*problem(tiles, dim, potential, "tiles"))
        taken = min(timed(*problem(tiles, dim, potential, "tiles"))[0] for _ in range(2))
        made |= {"tiles": tiles, "tile_seconds": taken * (units / tiles) ** 2}
    return made | {"load": os.getloadavg()[0]}


def show(row: dict[str, Any]) -> None:
    """One line."""
    text = f"{row['potential']:16} d = {row['dim']}  k = {row['units']:>8}  "
    text += f"{row['seconds']:8.2f} s  error {row['error']:.1e}  {row['gibibytes']:.1f} GiB"
    if "tile_seconds" in row:
        ratio = row["tile_seconds"] / row["seconds"]
        text += f"  tiles {row['tile_seconds']:.3g} s (from k = {row['tiles']}), {ratio:.3g} times"
    print(f"{text}  load {row['load']:.1f}", flush=True)


def main() -> None:
    """All cases, each in a process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--dims", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--potentials", nargs="+", default=["gaussian", "almost-harmonic"])
    parser.add_argument("--tiles", type=int, default=10**4, help="units to time tiles at; 0: none")
    parser.add_argument("--checked", type=int, default=1000, help="charges whose error is measured")
    parser.add_argument("--one", action="store_true", help="one case here, as JSON")
    given = parser.parse_args()
    if given.one:
        case = given.units[0], given.dims[0], given.potentials[0]
        print(json.dumps(one(*case, given.tiles, given.checked)))
        return
    for potential in given.potentials:
        for dim in given.dims:
            rows = []
            for units in given.units:
                what = ["--units", units, "--dims", dim, "--potentials", potential]
                what += ["--tiles", given.tiles, "--checked", given.checked]
                command = [sys.executable, __file__, "--one", *map(str, what)]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                rows.append(json.loads(done.stdout.splitlines()[-1]))
                show(rows[-1])
            if len(rows) > 1:
                growth = math.log(rows[-1]["seconds"] / rows[0]["seconds"])
                growth /= math.log(rows[-1]["units"] / rows[0]["units"])
                print(f"{potential:16} d = {dim}  time grows as k^{growth:.2f}", flush=True)


if __name__ == "__main__":
    main()
