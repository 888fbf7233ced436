"""A kind of experiment that costs nothing, and sweeps in processes of their own, to be killed.

The logistic map x <- 4 x (1 - x) forgets its start after fifty steps: whatever is lost, done twice
or mixed up on the way changes the result.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.kind import Kind, Piece, Result
from earnshaw.experiments.kinds.registry import KINDS
from earnshaw.experiments.store.packing import pack, unpack

TESTS = Path(__file__).parents[2]
TOKEN = "EARNSHAW_TEST_TOKEN"  # in the environment of all processes of one sweep
DEFAULTS = {"rate": 4.0, "steps": 100, "pause": 0.0, "fault": "", "flag": ""}


class Toy(Kind):
    name = "toy"
    together = 2
    measure = "value"
    sources = ()
    pins_compiler = True

    def check(self, settings: Any) -> dict[str, Any]:
        unknown = set(settings) - set(DEFAULTS)
        if unknown:
            raise EarnshawError(f"toy has no setting {unknown}; allowed: {', '.join(DEFAULTS)}")
        return DEFAULTS | dict(settings)

    def work(self, settings: Any) -> float:
        return settings["steps"]

    def advance(self, settings: Any, block: int, state: bytes | None, seconds: float) -> Piece:
        until = time.monotonic() + seconds
        self.fault(settings)
        seeds = range(self.together * block, self.together * (block + 1))
        begun = {"step": 0, "x": start(seeds)} if state is None else unpack(state)
        step, x = int(begun["step"]), begun["x"]
        while step < settings["steps"]:
            x = settings["rate"] * x * (1 - x)
            step += 1
            time.sleep(settings["pause"])
            if time.monotonic() > until and step < settings["steps"]:
                packed = pack({"step": np.asarray(step), "x": x})
                return Piece(step / settings["steps"], f"x {x[0]:.3f}", state=packed)
        results = (
            Result(s, {"value": float(v)}, {"end": v}) for s, v in zip(seeds, x, strict=True)
        )
        return Piece(1.0, f"x {x[0]:.3f}", results=tuple(results))

    def fault(self, settings: Any) -> None:
        if settings["fault"] == "raise":
            raise RuntimeError("two\nlines")
        if settings["fault"] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if settings["fault"] == "die once" and not Path(settings["flag"]).exists():
            Path(settings["flag"]).touch()
            os.kill(os.getpid(), signal.SIGKILL)


def start(seeds: Any) -> np.ndarray:
    return np.array([(seed + 1) / np.pi % 1 for seed in seeds])


def expected(seed: int, rate: float, steps: int) -> float:
    """The end of an orbit that nobody cut."""
    x = np.float64((seed + 1) / np.pi % 1)
    for _ in range(steps):
        x = np.float64(rate) * x * (1 - x)
    return float(x)


def sweeping(store: Path, token: str, piece: float = 0.02, **asked: Any) -> subprocess.Popen:
    """`ew.sweep` in a process of its own, which says "begun" and, at the end, "done"."""
    asked |= {"store": str(store)}
    environment = os.environ | {TOKEN: token, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-m", "experiments.sweeps.toy", json.dumps([piece, asked])]
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal would have it: signals to the group
    )


def alive(token: str) -> list[int]:
    """The processes of a sweep that are there still."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            environment = (place / "environ").read_bytes()
            state = (place / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"{TOKEN}={token}".encode() in environment.split(b"\0") and state != "Z":
            found.append(int(place.name))
    return found


def gone(token: str, within: float = 20.0) -> bool:
    """Whether all of them end."""
    until = time.monotonic() + within
    while alive(token) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(token)


def main() -> None:
    from earnshaw.experiments import processes
    from earnshaw.experiments.sweeps import _dispatch as dispatch
    from earnshaw.experiments.sweeps import _executor as executor
    from earnshaw.experiments.sweeps.sweep import sweep

    piece, asked = json.loads(sys.argv[1])
    executor.PIECE_SECONDS, dispatch.CHECKPOINT_SECONDS = piece, 2 * piece
    processes.WORKER = "experiments.sweeps.toy_worker"
    told = False

    def watch(progress: Any) -> None:
        nonlocal told
        if not told and any(one.fraction for one in progress.under_way):
            told = True
            print("begun", flush=True)

    sweep(**asked, watch=watch)
    print("done", flush=True)


KINDS["toy"] = Toy()

if __name__ == "__main__":
    main()
