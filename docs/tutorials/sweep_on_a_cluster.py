# ---
# jupytext:
#   text_representation:
#     extension: .py
#     format_name: percent
# kernelspec:
#   display_name: Python 3
#   language: python
#   name: python3
# ---

# %% [markdown]
# # Run a sweep on a cluster
#
# **The question.** A grid of settings times some seeds is a few thousand runs. Machines reboot, jobs are killed, and one cell
# always fails. How does one get a complete table, without babysitting, and know that every number in it is the one that an
# undisturbed run would have given?
#
# The cluster part needs Dask: `pip install 'earnshaw[cluster]'`.

# %% [markdown]
# ## A sweep on this machine
#
# A sweep is every combination of a grid with every seed. The kind `train` trains a random network on a random teacher.

# %%
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import earnshaw as ew

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
grid = {"depth": [2, 3], "width": [5, 10]}
fixed = {"iterations": 20_000, "test_samples": 1000}
local = ew.sweep("train", grid, fixed=fixed, seeds=5, store=folder / "local.sqlite")
local

# %%
for row in local.rows():
    print(
        f"depth {row['depth']}, width {row['width']:2}: median {row['median']:.4f} ({row['low']:.4f} to {row['high']:.4f})"
    )

# %% [markdown]
# Finished cells are written at once, so there is nothing special about an interrupted sweep: ask again, and it does what is
# missing. Here nothing is.

# %%
begun = time.perf_counter()
again = ew.sweep("train", grid, fixed=fixed, seeds=5, store=folder / "local.sqlite")
print(
    f"{again.done} of {len(again.cells)} cells there after {time.perf_counter() - begun:.1f} s; "
    f"the same: {again.rows() == local.rows()}"
)

# %% [markdown]
# A failed cell would be kept with its reason, would not stop the others, and would be tried again next time:

# %%
print(f"failed: {local.failed}")

# %% [markdown]
# ## A cluster
#
# A Dask cluster is one scheduler and any number of workers, on machines that have the same earnshaw installed. By hand that is
# `dask scheduler` on one machine and `dask worker tcp://HOST:8786 --nthreads 1` on all others. Here both run on this machine,
# as processes of their own; nothing below knows that.

# %%
address_file = folder / "scheduler.json"
dask = [sys.executable, "-m", "dask"]
options = ["--port", "0", "--no-dashboard", "--host", "127.0.0.1", "--scheduler-file"]
scheduler = subprocess.Popen(
    [*dask, "scheduler", *options, address_file], stderr=subprocess.DEVNULL
)
while not address_file.exists():
    time.sleep(0.1)
address = json.loads(address_file.read_text())["address"]


def start_worker():
    options = ["--nthreads", "1", "--no-dashboard", "--local-directory"]
    return subprocess.Popen([*dask, "worker", address, *options, folder], stderr=subprocess.DEVNULL)


worker = start_worker()
print("the scheduler listens:", address.partition("://")[0] + "://127.0.0.1:...")

# %% [markdown]
# The same sweep, into an empty store, on the cluster:

# %%
remote = ew.sweep(
    "train", grid, fixed=fixed, seeds=5, store=folder / "remote.sqlite", cluster=address
)
print(f"{remote.done} cells done, {remote.failed} failed")
print("the same numbers, to the last bit:", remote.rows() == local.rows())

# %% [markdown]
# That equality is a promise. Work is cut into pieces: settings, seeds and the bytes of a state go in, the bytes of the next state or
# the results come out. Whoever does the next piece does the same, so it does not matter where, or in how many pieces, a cell
# was computed. Workers with another version of the code are refused, since theirs would be other numbers.

# %% [markdown]
# ## A machine dies
#
# Kill the worker, with SIGKILL, in the middle of nowhere; start another; ask for more seeds. Only the new ones are computed.

# %%
worker.kill()
worker.wait()
worker = start_worker()
more = ew.sweep(
    "train", grid, fixed=fixed, seeds=10, store=folder / "remote.sqlite", cluster=address
)
print(f"{more.done} cells done, {more.failed} failed")
first_five = [row["values"][:5] for row in more.rows()]
print(
    "the first five seeds are what they were:",
    first_five == [row["values"] for row in local.rows()],
)

# %%
for process in (worker, scheduler):
    process.terminate()
    process.wait()

# %% [markdown]
# The process that runs the sweep may die as well; it is the only one that writes the store, and the same call goes on. `python
# benchmarks/load.py` kills workers and clients at random for hours and compares every cell to the bit.

# %% [markdown]
# ## Look, and take it away

# %%
more.plot()

# %%
temporary.cleanup()

# %% [markdown]
# From a shell a sweep is a small file; `earnshaw sweep FILE.toml --cluster tcp://HOST:8786` runs it, `earnshaw runs list`, `show`
# and `export` read the store:
#
# ```toml
# kind = "train"
# seeds = 10
#
# [grid]
# depth = [2, 3]
# width = [5, 10]
#
# [fixed]
# iterations = 20000
# test_samples = 1000
# ```
#
# ## Exercise
#
# Write that file, with 500000 iterations so that there is time, run `earnshaw sweep FILE.toml --store trial.sqlite --workers 2`, press Ctrl-C in the middle, and run it again. Which cells
# were computed twice? (`earnshaw runs show` says when each was finished.)
