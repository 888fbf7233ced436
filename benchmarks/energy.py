"""The energy and forces of charges, beside what a user would pick instead.

One run, float64, all cores: the value and the force (the gradient in positions and in weights) of k
electrons among k protons, 2 k^2 pairs, for the Gaussian potential and that of relu, by earnshaw, by
torch autograd over the dense kernel, by KeOps 2.3 (through its autograd, and as one fused reduction
with the force derived by hand) and by NumPy; `energy_peers.py` has the form each is given. All must
agree to 1e-9. Timings are interleaved (ours, torch, ..., ours, torch, ...) and the best of each is
kept. Then: the distance from the limit, the growth in k, the cost of a Hessian-vector product, the
products that the smallest Hessian eigenpair takes, and the peak memory.

    python benchmarks/energy.py             (about half an hour on 2 cores, most of it for KeOps)
    python benchmarks/energy.py --quick     (k up to 4096: a few minutes)
    python benchmarks/energy.py --only pairs --potentials gaussian --dims 3 --units 1024 4096

Peers that are not installed are left out, with a word. To have them:

    python -m pip install torch==2.13.0 pykeops==2.3

KeOps compiles with g++ -O3 for any processor; CXXFLAGS="-march=native -ffast-math", with a
KEOPS_CACHE_FOLDER of its own, lets it use this one's vectors.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import jax
import jax.numpy as jnp
import numpy as np

import earnshaw as ew
from earnshaw.charges.network import Student, Teacher
from earnshaw.energy.population import PopulationLoss, population_loss
from energy_peers import (
    POTENTIALS,
    Answer,
    Charges,
    Peer,
    keops_autograd_peer,
    keops_peer,
    numpy_peer,
    random_charges,
    torch_peer,
)

PEERS = ("torch", "keops", "keops-fused", "numpy")
PARTS = ("pairs", "hvp", "eigenpair", "memory")
SECONDS = 20.0  # spent on one peer at one size, once it has run
ROUNDS = 7
CORES = len(os.sched_getaffinity(0))


def problem(potential: str, charges: Charges) -> tuple[PopulationLoss, Student]:
    """The same charges as a teacher's loss and a student."""
    loss = population_loss(Teacher(charges.w, charges.b, potential))
    return loss, Student(charges.x, charges.c)


def ours(potential: str, charges: Charges) -> Callable[[], Answer]:
    """`value_and_gradient`, less the teacher's own energy, which the peers leave out."""
    loss, student = problem(potential, charges)
    constant = float(loss.constant)

    def run() -> Answer:
        value, gradient = jax.block_until_ready(loss.value_and_gradient(student))
        return float(value) - constant, gradient.positions, gradient.weights

    return run


def peers(potential: str, dim: int, wanted: list[str]) -> dict[str, Peer]:
    """Those that are wanted and installed."""
    makers: dict[str, Callable[[], Peer]] = {
        "torch": partial(torch_peer, potential),
        "keops": partial(keops_autograd_peer, potential, dim),
        "keops-fused": partial(keops_peer, potential, dim),
        "numpy": partial(numpy_peer, potential),
    }
    found = {}
    for name in wanted:
        try:
            found[name] = makers[name]()
        except ImportError as missing:
            print(f"  {name} is left out: {missing}")
    return found


def disagreement(first: Answer, second: Answer) -> float:
    """The largest difference of value and gradients, relative to the size of each."""
    worst = 0.0
    for ours, theirs in zip(first, second, strict=True):
        a, b = np.asarray(ours), np.asarray(theirs)
        worst = max(worst, float(np.max(np.abs(a - b)) / np.max(np.abs(b))))
    return worst


def interleaved(runs: dict[str, Callable[[], Any]], rounds: int = ROUNDS) -> dict[str, float]:
    """The best time of each, taken in turns; a slow one stops after `SECONDS`."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            if sum(times[name]) < SECONDS:
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in times.items()}


# -- the limit ------------------------------------------------------------------------------------

SIDE, REPEATS, SQUARE = 64, 1000, 1024


def elementwise(potential: str) -> Callable[[], None]:
    """What is computed of the invariants of SIDE^2 pairs, REPEATS times, on every core at once.

    For the Gaussian exp(-u/2); for relu the sine, the angle and the derivatives. The data stay in
    cache, and what comes out goes in again, hardly changed, so that nothing can be left out.
    """
    tile = problem(potential, random_charges(8, 3))[0].field.coupling.tile

    def step(invariant: jax.Array, sizes: jax.Array) -> jax.Array:
        if potential == "gaussian":
            return invariant + 1e-30 * jnp.exp(-0.5 * invariant)
        entries = tile(sizes[:, None], sizes[None, :], invariant)
        return invariant + 1e-30 * sum((e for e in entries[1:] if e is not None), entries[0])

    @jax.jit
    def repeat(invariant: jax.Array, sizes: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, REPEATS, lambda _, entries: step(entries, sizes), invariant)

    x = np.random.default_rng(0).standard_normal((SIDE, 3))
    invariant, sizes = jnp.asarray(x @ x[::-1].T), jnp.asarray((x * x).sum(1))
    work = lambda: repeat(invariant, sizes).block_until_ready()  # noqa: E731

    def run() -> None:
        threads = [threading.Thread(target=work) for _ in range(CORES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run


def product() -> Callable[[], Any]:
    """One square matrix product, which JAX shares between the cores."""
    square = jnp.asarray(np.random.default_rng(0).standard_normal((SQUARE, SQUARE)))
    multiply = jax.jit(lambda a: a @ a)
    return lambda: multiply(square).block_until_ready()


def limit(potential: str, units: int, dim: int, taken: dict[str, float]) -> float:
    """2 k^2 pairs x (the elementwise function + both matrix products), in seconds.

    The Gram product has 2 d operations a pair; the second one 2 (d + 1) for the Gaussian, whose
    value and force share a matrix, and 2 (d + 2) for relu, with one matrix for each.
    """
    element = taken["element"] / (CORES * REPEATS * SIDE**2)
    rate = 2 * SQUARE**3 / taken["product"]
    operations = 2 * dim + 2 * (dim + (1 if potential == "gaussian" else 2))
    return 2 * units**2 * (element + operations / rate)


# -- the parts ------------------------------------------------------------------------------------


def pairs(options: argparse.Namespace) -> None:
    """Everyone's time for value and force, and ours beside the limit."""
    for potential in options.potentials:
        machine: dict[str, Callable[[], Any]] = {
            "element": elementwise(potential),
            "product": product(),
        }
        for run in machine.values():
            run()
        for dim in options.dims:
            found = peers(potential, dim, options.peers)
            for peer in found.values():
                peer(random_charges(64, dim))  # KeOps compiles here
            names = ["earnshaw", *found]
            print(f"\n{potential}, d = {dim}: ns a pair (times ours); element ns, Gflop/s, / limit")
            print(f"{'k':>7s} " + "".join(f"{name:>17s}" for name in names))
            best = {}
            for units in options.units:
                taken = one_size(potential, random_charges(units, dim), found, machine)
                best[units] = taken["earnshaw"]
                row = "".join(
                    f"{1e9 * taken[name] / (2 * units**2):9.2f} "
                    f"({taken[name] / taken['earnshaw']:5.1f})"
                    for name in names
                )
                distance = taken["earnshaw"] / limit(potential, units, dim, taken)
                element = 1e9 * taken["element"] / (CORES * REPEATS * SIDE**2)
                rate = 2e-9 * SQUARE**3 / taken["product"]
                note = "  torch in blocks of 8192" if units > 8192 and "torch" in found else ""
                print(f"{units:7d} {row}{element:8.2f}{rate:7.1f}{distance:7.2f}{note}", flush=True)
            if len(best) > 1:
                sizes, times = np.log(list(best)), np.log(list(best.values()))
                print(f"ours grows as k^{np.polyfit(sizes, times, 1)[0]:.2f}")


def one_size(
    potential: str,
    charges: Charges,
    found: dict[str, Peer],
    machine: dict[str, Callable[[], Any]],
) -> dict[str, float]:
    """Times of everyone at these charges, after a check that all have the same answer."""
    run = ours(potential, charges)
    answer = run()
    runs = {"earnshaw": run, **machine}
    for name, peer in found.items():
        runs[name] = partial(peer, charges)
        apart = disagreement(answer, runs[name]())
        assert apart <= 1e-9, f"{name} disagrees by {apart:.1e}"
    return interleaved(runs)


def hvp(options: argparse.Namespace) -> None:
    """A Hessian-vector product in units of a gradient."""
    print("\nHessian-vector product, in gradients:")
    units = min(4096, max(options.units))
    for potential in options.potentials:
        for dim in options.dims:
            charges = random_charges(units, dim)
            loss, student = problem(potential, charges)
            direction = charges.w, charges.b
            runs = {
                "gradient": lambda: jax.block_until_ready(loss.value_and_gradient(student)),  # noqa: B023
                "hvp": lambda: jax.block_until_ready(loss.hvp(student, direction)),  # noqa: B023
            }
            for run in runs.values():
                run()
            taken = interleaved(runs)
            ratio = taken["hvp"] / taken["gradient"]
            print(f"  {potential:9s} k = {units}, d = {dim:2d}: {ratio:.2f}", flush=True)


def eigenpair(options: argparse.Namespace) -> None:
    """The smallest Hessian eigenpair, Gaussian potential, random student, matrix-free."""
    print("\nsmallest Hessian eigenpair, Gaussian, k = 1000, d = 10, to |Hv - lv| <= 1e-6 |l|:")
    generator = np.random.default_rng(0)
    x, w = generator.standard_normal((2, 1000, 10))
    c, b = generator.uniform(-1, 1, (2, 1000))
    for wrt in ("positions", "both"):
        loss, student = population_loss(Teacher(w, b, "gaussian"), wrt=wrt), Student(x, c)
        loss.smallest_eigenpair(student, max_products=2)  # compiles
        start = time.perf_counter()
        found, _ = loss.smallest_eigenpair(student)
        taken = time.perf_counter() - start
        print(
            f"  with respect to {wrt:9s}: {float(found.value):.9f}, relative residual "
            f"{float(found.residual / abs(found.value)):.1e}, {found.products} products, "
            f"{taken:.2f} s, {found.stop}",
            flush=True,
        )


def memory(options: argparse.Namespace) -> None:
    """Peak memory of k = 65536, d = 3 above the inputs, in a process of its own."""
    units = 16384 if options.quick else 65536
    print(f"\npeak memory above the inputs, k = {units}, d = 3:")
    for potential in options.potentials:
        command = [sys.executable, __file__, "--peak", potential, str(units)]
        peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        print(f"  {potential:9s} {peak.strip()}", flush=True)


def print_peak(potential: str, units: int) -> None:
    """How much the peak grows, from after the first small run to after the large one."""
    small, large = random_charges(2048, 3), random_charges(units, 3)
    ours(potential, small)()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    value = ours(potential, large)()[0]
    taken = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{(after - before) / 1024:.0f} MiB ({taken:.0f} s with the teacher's own, L = {value:.6g})"
    )


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="k up to 4096, memory at 16384")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--potentials", nargs="+", choices=POTENTIALS, default=POTENTIALS)
    parser.add_argument("--units", nargs="+", type=int, default=None)
    parser.add_argument("--dims", nargs="+", type=int, default=[3, 64])
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print_peak(options.peak[0], int(options.peak[1]))
        return
    if options.units is None:
        options.units = [1024, 4096] if options.quick else [1024, 4096, 16384]
    parts = {"pairs": pairs, "hvp": hvp, "eigenpair": eigenpair, "memory": memory}
    print(f"earnshaw {ew.__version__}, JAX {jax.__version__}, {CORES} cores, float64")
    for name in PARTS:
        if name in options.only:
            parts[name](options)


if __name__ == "__main__":
    main()
