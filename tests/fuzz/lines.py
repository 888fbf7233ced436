"""Random command lines: small valid ones, with a few options that nobody should type.

The commands and their options are read from the program itself, so that new ones are tried too.
Numbers are either small or absurd: a thousand units are not refused, they take their time.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from earnshaw.cli.main import app
from fuzz.formulas import formula

DATA = Path(__file__).parents[1] / "data"
TABLE = "x,y,colour\n" + "\n".join(f"{i / 7},{(i * 5) % 11},{'ab'[i % 2]}" for i in range(12))
SWEEP = 'kind = "train"\nname = "small"\n[grid]\nwidth = [1, 2]\n[fixed]\niterations = 3\ndim = 2\n'

# Small enough to take well under a second once compiled, or to be refused.
BASES = {
    "certify": [
        "teacher.json --student student.json",
        "run-gd.npz",
        "--check proof-minimum.json",
        "--teacher teacher.json --student student.json --rigorous",
    ],
    "fit": [
        "table.csv --target y --drop colour --units 1 --folds 0",
        "table.csv --target colour --units 0",
    ],
    "landscape": ["--activation relu --dim 2 --units 2 --starts 2 --iterations 3"],
    "learn": [
        "--dim 2 --units 2 --iterations 3 --starts 1",
        "--activation relu --dim 2 --units 2 --method gd --iterations 3",
        "--activation erf --dim 2 --units 2 --samples 9 --iterations 2 --method gd",
    ],
    "potential": ["relu", "gaussian --dim 2", "hermite-3 --dim 3", "almost-harmonic --dim 3"],
    "predict": ["model.json table.csv", "model-classes.npz table.csv"],
    "realize": ["--potential rho --dim 3", "--potential exp(-r^2) --on space --dim 2"],
    "reproduce": ["table2 --cells 2x1 --seeds 1 --iterations 2 --workers 1", "table2 --stored"],
    "runs export": ["small --to out.csv"],
    "runs list": [""],
    "runs show": ["small"],
    "simulate": ["--time 0.1 --max-steps 8", "--activation relu --dim 2 --units 2 --max-steps 4"],
    "sweep": ["sweep.toml --workers 1"],
    "verify": ["--list", "dual --instances 1", "--again witness.json"],
}
# Small sizes are all 2: every other shape is compiled again.
WHOLE = ["0", "2", "-1", "2147483647", "2147483648", "9" * 20, "9" * 400, "1e3", "0x10"]
REAL = [
    *("0", "0.5", "1", "2", "-1", "1e-3", "1e-300", "5e-324", "1e300", "1.7e308", "1e400"),
    *("nan", "inf", "-inf", "1e-16", "0.1"),
]
WORDS = [
    *("", " ", "-", "--", "[/b]", "[red]x", ":smile:", "$x_{", "a\\b", "naïve", "٣", "\x1b[31m"),
    *("x" * 5000, "a\nb", "\udcff", "None", "true", "1,2", "NaN", "{}", "%s", "'", '"', "a=b"),
]
ACTIVATIONS = [
    *("sign", "step", "relu", "leaky-relu", "relu2", "erf", "sin", "rbf", "exponential", "gelu"),
    *("gaussian-bump", "hermite-2", "hermite-999999", "laplace", "elu", "gaussian", "bessel"),
    *("almost-harmonic", "sphere-synthetic", "harmonic", "lambda-harmonic", "distance", "tanh"),
]
NAMES = {  # what may be typed for an option
    "--activation": ["relu", "erf", "gaussian", "almost-harmonic", "sign", "hermite-999999"],
    "--cells": ["2x1", "2x99999999999", "x", "1x1,2x2", "2x0"],
    "--core": ["ball", "paper"],
    "--criterion": ["bic", "aic", "holdout"],
    "--linear": ["auto", "yes", "no"],
    "--measure": ["error", "success"],
    "--method": [
        *("gd", "second-gd", "hessian-descent", "perturbed-gd", "noisy-sgd", "newton", "node-wise"),
        *("node-wise-paper", "node-wise-sgd", "node-wise-gd"),
    ],
    "--norms": ["1,1", "2,0.5", "1e300,1e300", "1e-300,1", "3", "1,2,3", "1e150,1e-150"],
    "--objective": ["full", "regularized", "assumption-1", "without-constants", "one-node"],
    "--on": ["space", "sphere"],
    "--oracle": [
        *("exact", "float64", "noisy:1e-6", "noisy:1e-300", "noisy:1e300", "rounded:1e-3"),
        *("samples:9", "samples:2147483648", "noisy:", "noisy:nan", "rounded:5e-324"),
    ],
    "--positions": ["paper", "sphere", "orthonormal", "gaussian"],
    "--preset": ["quick"],
    "--reading": ["one-sample", "summed", "literal", "wide-inputs", "sample-set"],
    "--start": ["random", "lemma-4.5"],
    "--steps": ["adaptive", "theory", "0.1", "1e300", "5e-324", "-1", "nan"],
    "--target": ["x", "y", "colour"],
    "--teacher": ["random", "orthonormal", "teacher.json", "formula-teacher.npz", "student.json"],
    "--units": ["auto", "0", "1", "2", "2147483647"],
    "--weights": ["uniform", "ones", "signs", "gaussian"],
    "--wrt": ["both", "positions", "weights"],
}
FILES = [
    *("", ".", "/", "nowhere/x.png", "a[/b].png", "a[/z].npz", "out.svg", "out.pdf", "out.json"),
    *("out.npz", "out.csv", "out.parquet", "out.py", "out.md", "out.gif", "/dev/full", "/dev/null"),
    *("\udcff.png", "\udcff.npz", "-x.png", "x" * 300 + ".png", "table.csv", "sweep.toml"),
    *("earnshaw.sqlite", *(path.name for path in sorted(DATA.iterdir()))),
]
PARAMETERS = [
    *("alpha", "radius", "lam", "core", "degree", "coefficients", "negative_slope", "gamma"),
    *("beta", "name", "activation", "self", "dim", "units", "seed", "width", "normalize", "kinks"),
    "max_norm",
]
TINY = {"--iterations", "--instances", "--max-steps"}  # the largest would be done, for days
LONG = {"--thorough", "--cluster"}  # an hour, as asked for; and a network


def prepare(folder: Path) -> None:
    """Put the files there that command lines name."""
    for path in DATA.iterdir():
        shutil.copy(path, folder / path.name)
    (folder / "table.csv").write_text(TABLE)
    (folder / "sweep.toml").write_text(SWEEP)


def lines(seed: int, count: int) -> Iterator[list[str]]:
    """Command lines, each a function of the seed and its number alone."""
    commands = dict(_commands((), typer.main.get_command(app)))
    for number in range(count):
        yield _line(random.Random(f"{seed} {number}"), commands)


def _commands(above: tuple[str, ...], group: Any) -> Iterator[tuple[str, list[Any]]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands((*above, name), command)
        else:
            yield " ".join((*above, name)), command.params


def _line(rng: random.Random, commands: dict[str, list[Any]]) -> list[str]:
    name = rng.choice(sorted(commands))
    base = rng.choice(BASES.get(name, [""])).split()
    if name == "realize" and rng.random() < 0.5:
        base = ["--potential", formula(rng), "--dim", rng.choice(WHOLE)]
    if name == "potential" and rng.random() < 0.7:
        base = [rng.choice(ACTIVATIONS), "--dim", rng.choice(["2", "3", "9"])]
    argv = [*name.split(), *base]
    options = [one for one in commands[name] if one.param_type_name == "option"]
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3))):
        option = rng.choice(options)
        if not LONG.intersection(option.opts):
            argv += [option.opts[0]] if option.is_flag else [option.opts[0], _value(rng, option)]
    mistake = rng.random()
    if mistake < 0.03:
        argv.insert(rng.randrange(len(argv) + 1), rng.choice([*WORDS, "--nonsense", "-h"]))
    elif mistake < 0.05 and len(argv) > 1:
        del argv[rng.randrange(len(argv))]
    # What would be done in so many words, and takes longer than we wait.
    return [] if argv[:1] == ["verify"] and not _short(argv) else argv


def _short(argv: list[str]) -> bool:
    return bool({"--list", "--again", "dual", "-h", "--help"}.intersection(argv))


def _value(rng: random.Random, option: Any) -> str:
    """Something to type for an option: mostly of its own type."""
    kind = str(option.type_descriptor.annotation)
    if rng.random() < 0.05:
        return rng.choice([*WORDS, *REAL])
    if TINY.intersection(option.opts):
        return rng.choice([one for one in WHOLE if one != "2147483647"])
    if "int" in kind:
        return rng.choice(WHOLE)
    if "float" in kind:
        return rng.choice(REAL)
    if "Path" in kind:
        return rng.choice(FILES)
    if "-p" in option.opts:
        return f"{rng.choice(PARAMETERS)}={rng.choice([*REAL, *WHOLE, *WORDS, '1,2,3', 'ball'])}"
    if option.opts[0] == "--potential":
        return formula(rng)
    return rng.choice([*NAMES.get(option.opts[0], ()), *rng.sample(WORDS, 2)])
