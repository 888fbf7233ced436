"""Commands that read mutated files: every kind of file, changed in every way, by its commands.

The files to begin with are those of tests/data, and some that commands make here first. Case i of a
seed is always the same file and the same command line, so that what goes wrong can be made again:

    cd tests && python -m fuzz.files --seed 1 --number 1234 --folder somewhere
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fuzz.lines import prepare
from fuzz.mutations import (
    Mutation,
    Rng,
    damaged,
    in_csv,
    in_json,
    in_npz,
    in_sqlite,
    in_toml,
    written,
)

BLIND = 0.1  # of all cases: bytes are changed without a look at the format
PATIENT = "--iterations 5 --starts 1"
LEARNING = """kind = "learn"
[grid]
units = [1, 2]
[fixed]
dim = 2
activation = "gaussian"
method = "gd"
iterations = 3
parameters = {}
"""
MAKERS = [  # what commands write themselves, before anything is mutated
    "sweep sweep.toml --workers 1 --store made.sqlite",
    "learn --dim 2 --units 2 --iterations 3 --starts 1 --save made-nodes.npz",
    "learn --activation relu --dim 2 --units 2 --method gd --iterations 3 --save made-gd.npz",
    "learn --activation erf --dim 2 --units 2 --samples 9 --iterations 2 --method noisy-sgd "
    "--save made-sgd.npz",
    "landscape --activation relu --dim 2 --units 2 --starts 2 --iterations 3 --save made-hunt.npz",
    "simulate --time 0.1 --max-steps 8 --save made-path.npz",
    "fit table.csv --target y --drop colour --units 1 --folds 0 --save made-model.npz",
    "predict model.json inputs.csv --out made-table.parquet",
    "certify --teacher sharp.json --student sharp-student.json --proof made-proof.json",
]


@dataclass(frozen=True)
class Kind:
    """Files of a kind, how they are mutated, and the commands that read them ({} is the file)."""

    files: tuple[str, ...]
    mutation: Mutation
    commands: tuple[str, ...]
    weight: float = 1.0


def _signed(content: bytes, rng: Rng) -> bytes:
    """A proof with other values; mostly with the digest that belongs to them."""
    from earnshaw.landscape.proofs import proof_file

    mutated = in_json(content, rng)
    try:
        tree = json.loads(mutated)
        if isinstance(tree, dict) and rng.integers(5):
            return written(tree | {"digest": proof_file._digest(mutated)}).encode()
    except (ValueError, ArithmeticError, RecursionError):
        pass
    return mutated


def _in_archive_or_json(content: bytes, rng: Rng) -> bytes:
    return in_npz(content, rng) if content[:2] == b"PK" else in_json(content, rng)


TEACHERS = ("teacher.json", "teacher.npz", "formula-teacher.json", "formula-teacher.npz")
STUDENTS = ("student.json", "student.npz")
KINDS = [
    Kind(
        TEACHERS,
        _in_archive_or_json,
        (
            f"learn --teacher {{}} --method gd {PATIENT}",
            "simulate --teacher {} --time 0.1 --max-steps 8",
            "landscape --teacher {} --starts 2 --iterations 3",
            "certify --teacher {} --student student.json",
            "certify --teacher {} --student student.json --rigorous --json",
        ),
        1.5,
    ),
    Kind(
        STUDENTS,
        _in_archive_or_json,
        (
            "simulate --teacher teacher.json --student {} --time 0.1 --max-steps 8",
            "certify --teacher teacher.json --student {}",
            "certify --teacher teacher.json --student {} --rigorous",
        ),
    ),
    Kind(
        ("run-gd.npz", "run-node-wise.npz", "made-gd.npz", "made-nodes.npz", "made-sgd.npz"),
        in_npz,
        (
            "learn --resume {} --iterations 5",
            "learn --resume {} --json",
            "learn --resume {} --iterations 5 --plot out.svg",
            "certify {}",
        ),
        2.0,
    ),
    Kind(
        ("path.npz", "made-path.npz"),
        in_npz,
        (
            "simulate --resume {} --max-steps 230",
            "simulate --resume {} --max-steps 230 --json",
            "simulate --resume {} --max-steps 230 --plot out.svg",
            "simulate --resume {} --time 21 --max-steps 230",
        ),
        2.0,
    ),
    Kind(
        ("hunt.npz", "made-hunt.npz"),
        in_npz,
        (
            "landscape --resume {}",
            "landscape --resume {} --starts 5",
            "landscape --resume {} --json",
            "landscape --resume {} --plot out.svg",
        ),
        2.0,
    ),
    Kind(
        ("proof-minimum.json", "proof-saddle.json", "made-proof.json"),
        _signed,
        ("certify --check {}", "certify --check {} --json"),
        2.0,
    ),
    Kind(
        ("model.json", "model.npz", "model-classes.json", "model-classes.npz", "made-model.npz"),
        _in_archive_or_json,
        ("predict {} inputs.csv", "predict {} table.csv", "predict {} inputs.csv --json"),
    ),
    Kind(
        ("table.csv", "table.npz", "made-table.parquet"),
        lambda content, rng: (
            in_npz(content, rng)
            if content[:2] == b"PK"
            else (damaged if content[:3] == b"PAR" else in_csv)(content, rng)
        ),
        ("fit {} --target y --units 0 --folds 0", "predict model.json {}"),
    ),
    Kind(
        ("claims.json",),
        in_json,
        (
            "verify psd-necessary --instances 2 --save {}",
            "verify yukawa-activation --instances 2 --json --save {}",
        ),
    ),
    Kind(("witness.json",), in_json, ("verify --again {}", "verify --again {} --json")),
    Kind(
        ("made.sqlite",),
        in_sqlite,
        (
            "runs list --store {}",
            "runs list --store {} --json",
            "runs show small --store {}",
            "runs show 1 --store {} --json",
            "runs export small --to out.csv --store {}",
            "runs export 1 --to out.json --arrays --store {}",
            "runs export small --to out.parquet --store {}",
            "sweep sweep.toml --workers 1 --store {}",
            "reproduce table2 --stored --cells 2x1 --seeds 1 --iterations 2 --store {}",
        ),
        2.0,
    ),
    Kind(
        ("sweep.toml", "learning.toml"),
        in_toml,
        ("sweep {} --workers 1 --store scratch.sqlite",),
        1.5,
    ),
]


def files(seed: int, count: int, folder: Path) -> Iterator[list[str]]:
    """Command lines to be run in `folder`, each on a mutated file that has just been written."""
    prepare(folder)
    (folder / "learning.toml").write_text(LEARNING)
    (folder / "inputs.csv").write_text("x 0,x 1,y\n0.5,1,2\n-1,0.25,3\n3,4,5\n")
    columns = {name: np.linspace(-1, 1, 6) ** k for k, name in enumerate(("x 0", "x 1", "y"))}
    np.savez(folder / "table.npz", **columns)
    sharp = json.loads((folder / "teacher.json").read_text())
    sharp |= {"activation": "erf", "parameters": {}, "width": 1.0}
    (folder / "sharp.json").write_text(json.dumps(sharp))
    own = {name: sharp[name] for name in ("dim", "positions", "weights")}
    student = {"format": "earnshaw-student", "version": 1} | own
    (folder / "sharp-student.json").write_text(json.dumps(student))
    yield from map(shlex.split, MAKERS)
    for number in range(count):
        yield case(seed, number, folder)


def case(seed: int, number: int, folder: Path) -> list[str]:
    """Write the file of a case; the command line that reads it."""
    rng = np.random.default_rng([seed, number])
    weights = np.array([kind.weight for kind in KINDS])
    kind = KINDS[rng.choice(len(KINDS), p=weights / weights.sum())]
    there = [name for name in kind.files if (folder / name).exists()]
    command = kind.commands[rng.integers(len(kind.commands))]
    if not there:  # its maker has failed, which was said
        return ["--version"]
    name = there[rng.integers(len(there))]
    mutation = damaged if rng.random() < BLIND else kind.mutation
    path = folder / f"case-{number}{Path(name).suffix}"
    path.write_bytes(mutation((folder / name).read_bytes(), rng))
    return [word.replace("{}", path.name) for word in command.split()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    asked = parser.parse_args()
    print(shlex.join(case(asked.seed, asked.number, asked.folder)))
