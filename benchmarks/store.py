"""A store of 10^5 results: how long it takes to make, list, show, export and sweep again.

    python benchmarks/store.py                  (100,000 results)
    python benchmarks/store.py --cells 10000

The results are those of a sweep of 1000 settings with 100 seeds, each with four numbers and two
arrays of 60 entries, as `earnshaw sweep` keeps them. Every command is a process of its own: the
seconds that it took, the seconds that a core worked for it, and its peak of memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from earnshaw.experiments.kinds.kind import Result
from earnshaw.experiments.kinds.registry import code_version
from earnshaw.experiments.store.store import writing
from earnshaw.experiments.sweeps.plan import plan

COMMANDS = {
    "list": "runs list --store store.sqlite",
    "list --json": "runs list --store store.sqlite --json",
    "show": "runs show large --store store.sqlite",
    "show --json": "runs show large --store store.sqlite --json",
    "export to CSV": "runs export large --to large.csv --store store.sqlite",
    "export to JSON": "runs export large --to large.json --store store.sqlite",
    "export to Parquet": "runs export large --to large.parquet --store store.sqlite",
    "export with arrays": "runs export large --to arrays.json --arrays --store store.sqlite",
    "sweep again": "sweep large.toml --workers 1 --store store.sqlite --json",
}
SEEDS = 100


def make(folder: Path, cells: int) -> float:
    """Fill a store through its own door; the seconds that took."""
    steps = [round(1e-3 * (1 + i / 1000), 9) for i in range(cells // SEEDS)]
    asked = plan("train", {"step": steps}, fixed={"iterations": 100}, seeds=SEEDS, name="large")
    lines = ['kind = "train"', 'name = "large"', f"seeds = {SEEDS}", "[grid]", f"step = {steps}"]
    (folder / "large.toml").write_text("\n".join([*lines, "[fixed]", "iterations = 100\n"]))
    code, rng, began = code_version("train"), np.random.default_rng(0), time.perf_counter()
    with writing(folder / "store.sqlite") as store:
        store.begin_run(asked.name, asked.kind, code, asked.cells())
        for settings in asked.settings:
            for block in range(SEEDS // 5):
                results = [_result(5 * block + i, rng) for i in range(5)]
                store.finish(asked.kind, code, settings, block, results, 1.0)
    return time.perf_counter() - began


def _result(seed: int, rng: np.random.Generator) -> Result:
    error = float(rng.exponential())
    numbers = {"error": error, "first_error": 1.0, "scale": 0.5, "diverged": False}
    return Result(seed, numbers, {"iterations": np.arange(60), "errors": rng.random(60)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="Keep the store there.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = asked.folder or Path(name)
        folder.mkdir(exist_ok=True)
        if not (folder / "store.sqlite").exists():
            print(f"{'make':20s} {make(folder, asked.cells):7.1f} s")
        size = (folder / "store.sqlite").stat().st_size
        print(f"{asked.cells} results, {size / 2**20:.0f} MiB")
        for what, words in COMMANDS.items():
            seconds, worked, peak = _measured(words.split(), folder)
            print(f"{what:20s} {seconds:7.1f} s {worked:7.1f} s {peak:6.0f} MiB", flush=True)


def _measured(argv: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds, seconds of a core, and MiB at most, of a command in a process of its own."""
    child = (
        "import sys, resource; from earnshaw.cli.main import main\n"
        "try: main()\n"
        "finally:\n"
        "    used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", child, *argv], cwd=folder, capture_output=True, text=True
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}: {done.stderr}")
    worked, peak = map(float, done.stderr.split()[-2:])
    return seconds, worked, peak


if __name__ == "__main__":
    main()
