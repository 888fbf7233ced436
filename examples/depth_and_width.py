"""Depth 2 is learned, depth 3 less so: a small sweep that can be interrupted and goes on.

Run it: ``python examples/depth_and_width.py``. It takes some seconds, most of them to compile.
"""

import tempfile
from pathlib import Path

import earnshaw as ew


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "results.sqlite"  # keep it, and a second run has nothing to do
        done = ew.sweep(
            "train",
            {"depth": [2, 3], "width": [10]},
            fixed={"iterations": 50_000, "test_samples": 1000},
            seeds=5,
            store=store,
        )
        for row in done.rows():
            low, high = row["low"], row["high"]
            print(f"depth {row['depth']}: error {row['median']:.4f} ({low:.4f} to {high:.4f})")
        again = ew.sweep(done.plan, store=store)
        print(f"asked again: {again.done} cells there, the same: {again.rows() == done.rows()}")

    (run,) = ew.train(depth=2, width=10, iterations=50_000, test_samples=1000)
    print(f"seed 0 alone: error {run.errors[0]:.4f} -> {run.error:.4f}")


if __name__ == "__main__":
    main()
