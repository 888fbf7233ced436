"""The first minute: commands and functions in new processes, with an empty and with a full cache.

    python benchmarks/cold.py [--only NAME ...] [--json FILE]

Each case runs twice, each time in a process of its own: first with an empty disk cache
(`EARNSHAW_CACHE`), then with what that has left there. For both: CPU seconds of the process and its
children, wall seconds, and how many programs XLA was asked for (compiled, or found on disk). The
first line is importing JAX alone. `more` are cases that ask, in the same process, how many programs
are compiled again for one more unit, for another seed, and for another teacher of the same size.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COUNTING = """
import atexit, sys, jax.monitoring
programs = []
def heard(event, seconds, **about):
    if event == "/jax/core/compile/backend_compile_duration":
        programs.append(about.get("fun_name"))
jax.monitoring.register_event_duration_secs_listener(heard)
def again(what):
    print(f"{what}: {len(programs) - again.seen}", file=sys.stderr)
    again.seen = len(programs)
again.seen = 0
atexit.register(lambda: print(f"programs: {len(programs)}", file=sys.stderr))
"""
NETWORKS = """
import earnshaw as ew
def networks(activation="relu", units=3, seed=0):
    teacher = ew.random_teacher(activation, dim=3, units=units, seed=seed)
    return teacher, ew.random_student(teacher, seed=seed + 1), ew.population_loss(teacher)
teacher, student, loss = networks()
"""
OWN = """
import earnshaw as ew, jax.numpy as jnp
own = lambda x: jnp.maximum(x, 0) + 0.1 * jnp.sin(x)
teacher = ew.Teacher([[1.0, 0.2, 0.0], [0.0, 1.0, 0.3], [0.1, 0.0, 1.0]], [1.0, -1.0, 0.5],
                     ew.activation(own, kinks=[0.0]))
"""
AGAIN = """
def ask(teacher, student, loss):
    {call}
ask(*networks())
again("first")
ask(*networks(units=4))
again("one more unit")
ask(*networks(units=4, seed=7))
again("another seed and teacher")
"""
LANDSCAPE = "landscape --activation {} --dim 3 --units 2 --student-units 3 --starts 20"

COMMANDS = {
    "learn erf": "learn --activation erf --dim 3 --units 3",
    "learn relu": "learn --activation relu --dim 3 --units 3",
    "learn tanh": "learn --activation tanh --dim 3 --units 3",
    "landscape erf": f"{LANDSCAPE.format('erf')} --iterations 2000",
    "landscape tanh": f"{LANDSCAPE.format('tanh')} --iterations 2000",
    "simulate": "simulate --activation relu --dim 3 --units 3",
    "potential": "potential tanh --dim 3",
}
FUNCTIONS = {
    "jax alone": "import jax, jax.numpy as jnp; jnp.zeros(3)",
    "population_loss": NETWORKS,
    "value": NETWORKS + "loss.value(student)",
    "gradient": NETWORKS + "loss.gradient(student)",
    "hessian": NETWORKS + "loss.hessian(student)",
    "certify": NETWORKS + "ew.certify(teacher, student)",
    "simulate (Python)": NETWORKS + "ew.simulate(teacher, student, time=1.0)",
    "learn (Python)": NETWORKS + "ew.learn(teacher)",
    "learn own function": OWN + "ew.learn(teacher)",
    "more: value": NETWORKS + AGAIN.format(call="loss.value(student)"),
    "more: hessian": NETWORKS + AGAIN.format(call="loss.hessian(student)"),
    "more: certify": NETWORKS + AGAIN.format(call="ew.certify(teacher, student)"),
    "more: learn": NETWORKS + AGAIN.format(call="ew.learn(teacher)"),
}
LIMIT = 900  # seconds, for one process


def program_of(name: str) -> str:
    """The Python program of a case, which also counts what is compiled."""
    if name in FUNCTIONS:
        return COUNTING + FUNCTIONS[name]
    words = ["earnshaw", *COMMANDS[name].split(), "--json"]
    return (
        COUNTING + f"import sys; sys.argv = {words!r}\nfrom earnshaw.__main__ import main\nmain()"
    )


def timed(name: str, cache: Path) -> dict[str, object]:
    """One process: CPU and wall seconds, the number of programs, and what it counted itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = {**os.environ, "EARNSHAW_CACHE": str(cache)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    command = [sys.executable, "-c", program_of(name)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command, env=environment, cwd=folder, capture_output=True, text=True, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"not done after {LIMIT} s"}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    counts = dict(
        re.findall(r"^(programs|first|one more unit|another.*): (\d+)$", done.stderr, re.M)
    )
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "cpu": round(spent, 1),
        "wall": round(time.perf_counter() - began, 1),
        **{name: int(count) for name, count in counts.items()},
    }


def main() -> None:
    """All cases, or those whose names contain one of the words of --only."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args()
    print(f"{'':20} {'empty cache':>22} {'full cache':>22}   programs")
    found = {}
    for name in (*FUNCTIONS, *COMMANDS):
        if not any(word in name for word in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            empty, full = (timed(name, Path(folder)) for _ in range(2))
        found[name] = {"empty": empty, "full": full}
        if failed := empty.get("failed") or full.get("failed"):
            print(f"{name:20} {failed}", flush=True)
            continue
        seconds = (f"{run['cpu']:>8} CPU, {run['wall']:>5} s" for run in (empty, full))
        rest = ", ".join(f"{key} {empty[key]}" for key in empty if key not in ("cpu", "wall"))
        print(f"{name:20} {'  '.join(seconds)}   {rest}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
