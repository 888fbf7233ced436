"""Learning from samples: `NodewiseRegressor` against what people use, on data.

Teachers f(x) = sum_j c_j s(x.w_j + b_j) with standard Gaussian units, biases and weights, inputs
N(0, I). Ours sees (x, y) alone, and is not told the number of units k; peers are given it. Parts:

    recovery  noiseless, n = 200 k (d + 2): how many of `--seeds` teachers are found: k units, units
              and weights up to the activation's symmetries, and nothing left over, within 1e-8
              (relu: 1e-5)
    teachers  noiseless, also at n = 2000: relative test error and seconds, beside MLPRegressor
              (adam; lbfgs as it comes; lbfgs pushed: no penalty, tolerance 1e-12), PyTorch Adam (as
              many units and passes as MLPRegressor's adam, batches of 200, step 1e-2 falling as a
              cosine) and HistGradientBoostingRegressor
    noise     label noise of 10 % of the deviation of y: test error over that of the true network
    others    make_friedman1, 2, 3, with noise and without, and load_diabetes, all as they come (100
              units for the peers that are networks, and 100 passes for PyTorch)
    growth    seconds of a fit of 5 units against n up to 10^6, d = 20
    memory    the highest resident memory of such a fit at n = 10^6 over the size of the data

    python benchmarks/data.py                          (many hours on 2 cores: recovery is most)
    python benchmarks/data.py --quick                  (about five minutes)
    python benchmarks/data.py --only recovery --activations tanh --dims 5 10 --units 3 5
    python benchmarks/data.py --only teachers --activations tanh --seeds 2 --first-seed 100

Relative errors are mean squares over the variance of y, on 10^4 fresh samples. "cold" is the first
fit of a shape in this process, compiling included; "warm" and all peers' seconds are the median of
the seeds after it, every method on the same data in turn. Every number is of this run.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch's and boosting's: faster at these sizes

import jax
import numpy as np
import sklearn
import torch
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import RepeatedKFold

from data_peers import Data, Fit, fitted, given_units, out_of_the_box
from earnshaw.charges.network import Teacher
from earnshaw.sklearn import NodewiseRegressor

CORES = len(os.sched_getaffinity(0))
ACTIVATIONS = ("tanh", "erf", "logistic", "relu", "softplus")
EXACT = {"relu": 1e-5}  # how near is recovered; else
NEAR = 1e-8
EACH = 200  # samples a parameter
TESTS = 10_000
NOISE = 0.1
CASES = [(10, 5, 2000), *((dim, units, None) for dim in (5, 10, 20) for units in (3, 5, 10))]
SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]
TENS, UNITS = 20, 5  # d and k of growth and memory


@dataclass(frozen=True)
class Task:
    """A random teacher, and where its samples come from."""

    activation: str
    dim: int
    units: int
    seed: int
    inputs: str = "normal"  # N(0, I), or "binary": 0 and 1

    @functools.cached_property
    def teacher(self) -> Teacher:
        """Units in R^(d+1), the bias last."""
        rng = np.random.default_rng([self.seed, self.dim, self.units])
        tilted = rng.standard_normal((self.units, self.dim + 1))
        return Teacher(tilted, rng.standard_normal(self.units), self.activation)

    @property
    def parameters(self) -> int:
        """k (d + 2)."""
        return self.units * (self.dim + 2)

    def samples(self, count: int, which: int = 0) -> Data:
        """Inputs (n, d) and exact answers (n,); `which` is 0 to fit and 1 to test."""
        rng = np.random.default_rng([self.seed, self.dim, self.units, 1 + which])
        x = rng.standard_normal((count, self.dim))
        x = x if self.inputs == "normal" else (x > 0).astype(float)
        return x, np.asarray(self.teacher(np.column_stack([x, np.ones(count)])))


def verdict(what: str, holds: bool) -> None:
    """One line of what must hold."""
    print(f"{'HOLDS' if holds else 'FAILS'}: {what}", flush=True)


def seeds_of(options: argparse.Namespace, usual: int) -> range:
    """The seeds that are asked for."""
    return range(options.first_seed, options.first_seed + (options.seeds or usual))


# -- recovery -------------------------------------------------------------------------------------


def wrong_by(model: NodewiseRegressor, teacher: Teacher) -> tuple[float, float, float]:
    """The largest error of the units, of the weights, and of what flips and affine part leave.

    A flipped unit may leave a constant or a linear function behind, which the model's intercept
    and linear part must take back: the teacher has neither.
    """
    found = model.match(teacher)
    rest = np.append(model.linear_, model.intercept_ + found.leftover_constant)
    rest = rest + found.leftover_linear
    return (
        float(np.max(found.distance)),
        float(np.max(found.weight_error)),
        float(np.max(np.abs(rest))),
    )


def recovery(options: argparse.Namespace) -> None:
    """How many teachers are found, one line for each activation, d and k."""
    print(f"\nrecovery: auto, n = {EACH} k (d + 2); errors are the worst of those recovered")
    print(
        f"{'activation':10s} {'d':>3s} {'k':>3s} {'n':>6s} {'recovered':>9s} {'units':>8s} "
        f"{'weights':>8s} {'rest':>8s} {'seconds':>7s} {'most':>6s} {'cold':>6s}"
    )
    seeds, poor = seeds_of(options, 10), []
    for activation, dim, units in itertools.product(
        options.activations, options.dims, options.units
    ):
        right = recovered_of(activation, dim, units, seeds)
        if right < 0.9 * len(seeds):
            poor.append(f"{activation} d = {dim} k = {units}: {right} of {len(seeds)}")
    verdict(
        "at least 9 of 10 of every cell recovered" + (f", not {'; '.join(poor)}" if poor else ""),
        not poor,
    )


def recovered_of(activation: str, dim: int, units: int, seeds: range) -> int:
    """One line, with a further one for each teacher that was not recovered."""
    near, worst, taken, failures = EXACT.get(activation, NEAR), [], [], []
    for seed in seeds:
        task = Task(activation, dim, units, seed)
        data = task.samples(EACH * task.parameters)
        found = fitted(NodewiseRegressor(activation=activation), data, task.samples(TESTS, 1))
        wrong = wrong_by(found.model, task.teacher)
        taken.append(found.seconds)
        if found.model.n_units_ == units and max(wrong) <= near:
            worst.append(wrong)
        else:
            steps = itertools.groupby(event["action"] for event in found.model.history_)
            failures.append(
                f"    seed {seed}: {found.model.n_units_} units, units {wrong[0]:.1e}, weights "
                f"{wrong[1]:.1e}, rest {wrong[2]:.1e}, relative test error "
                f"{found.error / np.var(data[1]):.1e}, smallest |c| "
                f"{np.min(np.abs(task.teacher.weights)):.1e}, {found.seconds:.1f} s: "
                + ", ".join(f"{action} {len(list(group))}" for action, group in steps)
            )
    largest = np.max(worst, axis=0) if worst else np.full(3, np.nan)
    warm = taken[1:] or taken
    print(
        f"{activation:10s} {dim:3d} {units:3d} {len(data[0]):6d} {len(worst):4d}/{len(seeds):<4d} "
        f"{largest[0]:8.1e} {largest[1]:8.1e} {largest[2]:8.1e} "
        f"{np.median(warm):7.2f} {max(warm):6.1f} {taken[0]:6.1f}",
        flush=True,
    )
    for line in failures:
        print(line, flush=True)
    return len(worst)


# -- teachers -------------------------------------------------------------------------------------


def teachers(options: argparse.Namespace) -> None:
    """Ours and the others on noiseless teachers."""
    gaps, slower, seeds = [], [], seeds_of(options, 3)
    seeds = range(seeds.start, max(seeds.stop, seeds.start + 2))  # the first one compiles
    for activation, (dim, units, count) in itertools.product(options.activations, options.cases):
        gap, ratio = one_shape(activation, dim, units, count, seeds)
        gaps.append(gap)
        if ratio > 1:
            slower.append(f"{activation} d = {dim} k = {units} ({ratio:.2f})")
    verdict(
        f"errors at least 1000 times smaller; least of all seeds {min(gaps):.1e}", min(gaps) >= 1000
    )
    verdict(
        "warm, in no more time than MLPRegressor's adam"
        + (f", not {'; '.join(slower)}" if slower else ""),
        not slower,
    )


def one_shape(
    activation: str, dim: int, units: int, count: int | None, seeds: range
) -> tuple[float, float]:
    """A table, the least of all seeds of best MLPRegressor's error/ours, and our time/adam's."""
    rows: dict[str, list[Fit]] = {}
    count = count or EACH * Task(activation, dim, units, 0).parameters
    scales = []
    for seed in seeds:
        task = Task(activation, dim, units, seed)
        data, test = task.samples(count), task.samples(TESTS, 1)
        scales.append(np.var(test[1]))
        ours = {"ours": "auto", "ours, given k": units}
        for name, number in ours.items():
            model = NodewiseRegressor(number, activation=activation)
            rows.setdefault(name, []).append(fitted(model, data, test))
        for name, fit in given_units(activation, units, seed, data, test):
            rows.setdefault(name, []).append(fit)
    errors = {name: np.array([f.error for f in fits]) / scales for name, fits in rows.items()}
    times = {name: np.array([f.seconds for f in fits]) for name, fits in rows.items()}
    mlp = np.min([found for name, found in errors.items() if name.startswith("MLP")], axis=0)
    gaps = mlp / np.maximum(errors["ours"], 1e-300)
    warm = slice(1, None)
    ratio = float(np.median((times["ours"] / times["MLPRegressor adam"])[warm]))
    print(
        f"\n{activation}, d = {dim}, k = {units}, n = {count}, {len(seeds)} seeds; "
        f"cold {times['ours'][0]:.2f} s, units {[f.model.n_units_ for f in rows['ours']]}"
    )
    print(f"  {'':27s} {'error':>8s} {'worst':>8s} {'seconds':>8s} {'ours/it':>8s}")
    for name in rows:
        quotient = np.median((times["ours"] / times[name])[warm])
        print(
            f"  {name:27s} {np.median(errors[name]):8.1e} {np.max(errors[name]):8.1e} "
            f"{np.median(times[name][warm]):8.2f} {quotient:8.2f}"
        )
    print(
        f"  best MLPRegressor's error over ours: {np.median(gaps):.1e}, at least {np.min(gaps):.1e}"
        f"; time over adam's: {ratio:.2f}",
        flush=True,
    )
    return float(np.min(gaps)), ratio


# -- noise ----------------------------------------------------------------------------------------


def noise(options: argparse.Namespace) -> None:
    """Test errors with noisy labels, over those of the true network."""
    print(
        f"\nnoise of {options.noise:.0%} of the deviation of y, n = {EACH} k (d + 2), "
        f"{options.inputs} inputs"
    )
    print("over true: on noisy labels, ours over the true network's; excess: on exact labels,")
    print("in units of the noise's variance (least squares with the right k units: about 1/200)")
    print(
        f"{'activation':10s} {'d':>3s} {'k':>3s} {'over true':>9s} {'worst':>6s} {'excess':>8s} "
        f"{'worst':>8s} {'seconds':>7s}  units found"
    )
    largest = 0.0
    for activation, dim, units in itertools.product(
        options.activations, options.dims, options.units
    ):
        ratios, excess, taken, numbers = [], [], [], []
        for seed in seeds_of(options, 3):
            task = Task(activation, dim, units, seed, options.inputs)
            (x, y), (x_test, y_test) = task.samples(EACH * task.parameters), task.samples(TESTS, 1)
            rng, size = np.random.default_rng([seed, 3]), options.noise * np.std(y)
            noisy = y + size * rng.standard_normal(len(y))
            true = size * rng.standard_normal(TESTS)
            found = fitted(NodewiseRegressor(activation=activation), (x, noisy), (x_test, y_test))
            unseen = found.model.predict(x_test) - y_test - true
            ratios.append(np.mean(unseen**2) / np.mean(true**2))
            excess.append(found.error / size**2)
            taken.append(found.seconds)
            numbers.append(found.model.n_units_)
        print(
            f"{activation:10s} {dim:3d} {units:3d} {np.median(ratios):9.4f} {max(ratios):6.3f} "
            f"{np.median(excess):8.4f} {max(excess):8.4f} {np.median(taken):7.1f}  {numbers}",
            flush=True,
        )
        largest = max(largest, *ratios)
    verdict(f"test error within 10 % of the true network's; most {largest - 1:.1%}", largest <= 1.1)


# -- others ---------------------------------------------------------------------------------------


def splits(repeats: int) -> Iterator[tuple[str, list[tuple[Data, Data]]]]:
    """Every data set, with what to fit and test. Friedman's noise: a third of y's deviation."""
    makers: list[tuple[str, Callable[..., Data], float]] = [
        ("friedman1", make_friedman1, 1.0),
        ("friedman2", make_friedman2, 125.0),
        ("friedman3", make_friedman3, 0.1),
    ]
    for (name, make, level), noisy in itertools.product(makers, (True, False)):
        size = level if noisy else 0.0
        yield (
            f"{name}, noise {size:g}, n = 2000",
            [
                (
                    make(n_samples=2000, noise=size, random_state=seed),
                    make(n_samples=TESTS, noise=size, random_state=1000 + seed),
                )
                for seed in range(repeats)
            ],
        )
    x, y = load_diabetes(return_X_y=True)
    folds = RepeatedKFold(n_splits=5, n_repeats=repeats, random_state=0).split(x)
    yield (
        f"diabetes, n = 442, 5 folds {repeats} times",
        [((x[a], y[a]), (x[b], y[b])) for a, b in folds],
    )


def others(options: argparse.Namespace) -> None:
    """Data that are no networks."""
    worse = []
    for name, pairs in splits(options.seeds or 3):
        if options.sets and not name.startswith(tuple(options.sets)):
            continue
        rows: dict[str, list[Fit]] = {}
        for seed, (data, test) in enumerate(pairs):
            for method, activation in {"ours": "tanh", "ours, relu": "relu"}.items():
                ours = fitted(NodewiseRegressor(activation=activation), data, test)
                rows.setdefault(method, []).append(ours)
            for method, fit in out_of_the_box(data, test, seed):
                rows.setdefault(method, []).append(fit)
        errors = {method: np.mean([f.error for f in fits]) for method, fits in rows.items()}
        best = min(error for method, error in errors.items() if not method.startswith("ours"))
        scale = np.mean([np.var(test[1]) for _, test in pairs])
        print(f"\n{name}; ours found {[f.model.n_units_ for f in rows['ours']]} units")
        print(f"  {'':25s} {'error':>10s} {'relative':>9s} {'/best peer':>10s} {'seconds':>8s}")
        for method, fits in rows.items():
            print(
                f"  {method:25s} {errors[method]:10.4g} {errors[method] / scale:9.2e} "
                f"{errors[method] / best:10.3f} {np.median([f.seconds for f in fits]):8.2f}",
                flush=True,
            )
        if errors["ours"] > 1.05 * best:
            worse.append(f"{name} ({errors['ours'] / best:.3f})")
    verdict(
        "not worse than the best peer by more than 5 %"
        + (f", except {'; '.join(worse)}" if worse else ""),
        not worse,
    )


# -- growth and memory ----------------------------------------------------------------------------


def many(count: int, seed: int = 0) -> Data:
    """Noisy samples of a tanh teacher, made without copies of the size of the data."""
    rng = np.random.default_rng([seed, 9])
    units, offsets = rng.standard_normal((UNITS, TENS)), rng.standard_normal(UNITS)
    x, y = np.empty((count, TENS)), np.empty(count)
    for start in range(0, count, 2**14):
        part = slice(start, min(start + 2**14, count))
        rows = rng.standard_normal((part.stop - start, TENS))
        exact = np.tanh(rows @ units.T + offsets) @ np.ones(UNITS)
        x[part], y[part] = rows, exact + NOISE * rng.standard_normal(len(rows))
    return x, y


def growth(options: argparse.Namespace) -> None:
    """Seconds against n, once compiled, and the exponent."""
    print(f"\ngrowth: tanh, d = {TENS}, {UNITS} units, noise; seconds once compiled")
    print(f"{'n':>8s} {'seconds':>8s} {'a unit':>8s} {'us/sample':>9s} {'solver':>9s} iterations")
    taken, model = [], NodewiseRegressor(UNITS)
    model.fit(*many(options.samples[0]))  # compiles: chunks of samples have one shape
    for count in options.samples:
        data = many(count, 1)
        found = fitted(model, data, (data[0][:TESTS], data[1][:TESTS]))
        taken.append(found.seconds)
        last = [event for event in model.history_ if event["samples"] == count]
        print(
            f"{count:8d} {found.seconds:8.2f} {found.seconds / UNITS:8.3f} "
            f"{1e6 * found.seconds / count:9.2f} {model.solver_:>9s} "
            f"{sum(event['iterations'] for event in last)}",
            flush=True,
        )
    if len(taken) > 1:
        steep = float(np.polyfit(np.log(options.samples), np.log(taken), 1)[0])
        last = float(np.diff(np.log(taken[-2:]))[0] / np.diff(np.log(options.samples[-2:]))[0])
        print(f"seconds ~ n^{steep:.2f} over all, n^{last:.2f} between the last two")
        verdict("cost grows no faster than n", steep <= 1.1)


def status(entry: str) -> int:
    """Bytes of an entry of this process's status: VmRSS is resident now, VmHWM was at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(entry))


def peak(count: int, answers: Any) -> None:
    """In a process of its own: resident memory before the fit, and at most in it."""
    data = many(count)
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM counts from here
    before = status("VmRSS")
    model = NodewiseRegressor(UNITS).fit(*data)
    answers.put((sum(part.nbytes for part in data), before, status("VmHWM"), model.solver_))


def memory(options: argparse.Namespace) -> None:
    """The highest resident memory over the size of the data."""
    count, own = options.samples[-1], multiprocessing.get_context("spawn")
    sizes = []
    for rows in (TESTS, count):  # the small fit shows what compiling and libraries take
        answers = own.Queue()
        process = own.Process(target=peak, args=(rows, answers))
        process.start()
        sizes.append(answers.get())
        process.join()
    small = sizes[0][2] - sizes[0][1]
    size, before, most, solver = sizes[1]
    print(f"\nmemory: n = {count}, d = {TENS}, {UNITS} units, {solver}; data {size / 1e6:.0f} MB")
    print(f"  before the fit {before / 1e6:.0f} MB, at most {most / 1e6:.0f} MB")
    print(
        f"  the fit took {(most - before) / 1e6:.0f} MB, {(most - before) / size:.2f} of the data"
    )
    print(f"  a fit of n = {TESTS} took {small / 1e6:.0f} MB: what compiling takes")
    times = (most - before) / size + 1
    verdict(f"memory below 4 times the data; data and fit {times:.2f}", times < 4)


def main() -> None:
    """Run what is asked for."""
    parts = {
        "recovery": recovery,
        "teachers": teachers,
        "noise": noise,
        "others": others,
        "growth": growth,
        "memory": memory,
    }
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--activations", nargs="+", choices=ACTIVATIONS, default=list(ACTIVATIONS))
    parser.add_argument("--dims", nargs="+", type=int, default=[5, 10, 20])
    parser.add_argument("--units", nargs="+", type=int, default=[3, 5, 10])
    parser.add_argument("--seeds", type=int, help="10 in recovery, 3 elsewhere")
    parser.add_argument("--noise", type=float, default=NOISE, help="of the deviation of y")
    parser.add_argument("--inputs", choices=("normal", "binary"), default="normal", help="of noise")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--cases", nargs="+", type=case, default=CASES, help="d,k or d,k,n")
    parser.add_argument("--sets", nargs="+", help="friedman1, friedman2, friedman3, diabetes")
    parser.add_argument("--samples", nargs="+", type=int, default=SIZES)
    parser.add_argument("--quick", action="store_true", help="few, small and tanh")
    options = parser.parse_args()
    if options.quick:
        options.activations, options.dims, options.units = ["tanh", "relu"], [5], [3]
        options.cases, options.samples = [(10, 5, 2000)], SIZES[:3]
        options.seeds = options.seeds or 2
    print(f"scikit-learn {sklearn.__version__}, JAX {jax.__version__}, PyTorch {torch.__version__}")
    print(f"{CORES} cores, float64")
    for part in options.only:
        parts[part](options)


def case(text: str) -> tuple[int, int, int | None]:
    """d,k or d,k,n."""
    dim, units, *count = (int(part) for part in text.split(","))
    return dim, units, count[0] if count else None


if __name__ == "__main__":
    main()
