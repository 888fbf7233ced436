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
# **The question.** A grid of settings times some seeds is a few thousand runs. Machines reboot, jobs are killed, and
# one cell always fails. How does one get a complete table, without babysitting, and know that every number in it is the
# one that an undisturbed run would have given?
#
# The last part of the question is the hard one. To start something again after a crash is easy; to be sure that the
# table was not changed by the crash is not. Whoever writes a loop over settings meets the same three troubles in turn.
# The loop dies in the middle, and begins anew. Then it is made to skip what is done, and one day it skips cells that
# were made by an older version of the code. Then it is spread over machines, and its random numbers depend on which
# machine took which cell. This tutorial shows what a sweep of this library does about each, and breaks it on purpose.
#
# The cluster part needs Dask: `pip install 'earnshaw[cluster]'`.

# %% [markdown]
# ## A sweep on this machine
#
# A sweep is every combination of a grid with every seed. The kind `train` trains a random network on a random teacher,
# the experiment of [the tutorial before this one](reproduce_a_table.py). Two depths, two widths, five seeds: 20 cells.

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
print(local)

# %%
for row in local.rows():
    print(
        f"depth {row['depth']}, width {row['width']:2}: median {row['median']:.4f} ({row['low']:.4f} to {row['high']:.4f})"
    )

# %% [markdown]
# The first lines are the whole result in brief: how many cells there are and how many are done; `axes` are the settings
# that vary. `rows()` has one entry for each combination, with the median and the range over the seeds, and with every
# single number:

# %%
print("settings and numbers of the first row:", ", ".join(local.rows()[0]))
print(
    "one cell:",
    local.cells[0].seed,
    local.cells[0].numbers,
    f"{len(local.cells[0].settings)} settings",
)

# %% [markdown]
# A cell keeps *all* settings, also those that nobody gave, since a default may be another one next year.
#
# ## Ask again
#
# Finished cells are written at once, so there is nothing special about an interrupted sweep: ask again, and it does
# what is missing. Here nothing is.

# %%
begun = time.perf_counter()
again = ew.sweep("train", grid, fixed=fixed, seeds=5, store=folder / "local.sqlite")
print(
    f"{again.done} of {len(again.cells)} cells there after {time.perf_counter() - begun:.1f} s; "
    f"the same: {again.rows() == local.rows()}"
)

# %% [markdown]
# How does it know what is there? Each cell is filed under its settings, its seed and the version of the code. Ask for
# more seeds, or for one more width, and only the new cells are computed. Change a setting that is fixed, and all cells
# are new; the old ones stay in the file. So one store can serve for months, and two sweeps that overlap share what they
# have in common.
#
# The same strictness says no before anything is run, rather than after a night:

# %%
for mistake in ({"dpeth": [2, 3]}, {"depth": [2], "width": [0, 5]}):
    try:
        ew.sweep("train", mistake, seeds=5, store=folder / "local.sqlite")
    except ew.EarnshawError as error:
        print(error)

# %% [markdown]
# What cannot be seen beforehand is a *failed* cell: it is kept with its reason, does not stop the others, and is tried
# again next time. That is not the same as a cell with a bad number. A step size that is far too large makes a network
# that has learned nothing, and this is a result:

# %%
print(f"failed above: {local.failed}")
wild = ew.sweep(
    "train", {"step": [1e-3, 100.0]}, fixed=fixed, seeds=5, store=folder / "local.sqlite"
)
for row in wild.rows():
    print(f"step {row['step']}: median {row['median']:.3f}, failed {wild.failed}")

# %% [markdown]
# ## Kill it
#
# Now the first accident. Sweeps are often run from a shell, so let us do that from here: write the sweep to a file,
# start the command, wait for its first line of progress, and kill the process with SIGKILL, which it cannot catch. Each
# cell gets ten times the steps, so that there is something to interrupt.

# %%
file = folder / "sweep.toml"
file.write_text("""kind = "train"
seeds = 5

[grid]
depth = [2, 3]
width = [5, 10]

[fixed]
iterations = 200000
test_samples = 1000
""")
earnshaw = [sys.executable, "-m", "earnshaw"]
store = folder / "killed.sqlite"
victim = subprocess.Popen(
    [*earnshaw, "sweep", file, "--store", store],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    text=True,
)
print(victim.stderr.readline().partition(" cells")[0], "cells, then SIGKILL")
victim.kill()
victim.wait()
victim.stderr.close()

# %% [markdown]
# What is in the file that it left? Another process may ask at any time, even while a sweep runs:

# %%
listed = subprocess.run(
    [*earnshaw, "runs", "list", "--store", store, "--json"], capture_output=True, text=True
)
for run in json.loads(listed.stdout)["runs"]:
    print(f"run {run['id']}: {run['done']} of {run['cells']} cells done, {run['failed']} failed")

# %% [markdown]
# Not all cells. Go on, and compare with a sweep that nobody disturbed:

# %%
longer = fixed | {"iterations": 200_000}
resumed = ew.sweep("train", grid, fixed=longer, seeds=5, store=store)
undisturbed = ew.sweep("train", grid, fixed=longer, seeds=5, store=folder / "undisturbed.sqlite")
print(f"{resumed.done} cells done; the same: {resumed.rows() == undisturbed.rows()}")

# %% [markdown]
# The comparison is of numbers, not of rounded numbers. Two things make that possible. The file is a database that
# either has a cell or has not; there is no half-written cell, however a process dies. And a run is a function of its
# settings and its seed alone. Its random numbers are computed from the seed and a counter, not drawn from a stream that
# others draw from as well, so it does not matter what was computed before, or where.

# %% [markdown]
# ## A cluster
#
# One machine is not enough, and now things die more often, since there are more of them. A Dask cluster is one
# scheduler and any number of workers, on machines that have the same earnshaw installed. By hand that is `dask
# scheduler` on one machine and `dask worker tcp://HOST:8786 --nthreads 1` on all others. Here both run on this machine,
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
# That equality is a promise. Work is cut into pieces of some seconds: settings, seeds and the bytes of a state go in,
# the bytes of the next state or the results come out. Whoever does the next piece does the same, so it does not matter
# where, or in how many pieces, a cell was computed. A worker keeps nothing that would be missed. Workers with another
# version of the code are refused, since theirs would be other numbers.
#
# (To the last bit holds for processors of one kind. Others may round differently in the last digit of a sum, and after
# a million steps that can be seen.)

# %% [markdown]
# ## A machine dies
#
# The second accident. Start the longer sweep on the cluster, again as a command, and kill the *worker* with SIGKILL
# while it works. Then start another one.

# %%
client = subprocess.Popen(
    [*earnshaw, "sweep", file, "--store", folder / "orphaned.sqlite", "--cluster", address],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    text=True,
)
print(client.stderr.readline().partition(" cells")[0], "cells, then SIGKILL for the worker")
worker.kill()
worker.wait()
worker = start_worker()
client.communicate()
print("the command ended with exit code", client.returncode)

orphaned = ew.sweep("train", grid, fixed=longer, seeds=5, store=folder / "orphaned.sqlite")
print(f"{orphaned.done} cells done; the same: {orphaned.rows() == undisturbed.rows()}")

# %% [markdown]
# The scheduler noticed that the worker was gone and gave its piece of work to the next one. The command did not even
# end. Last, ask for more seeds, with the new worker. Only the new cells are computed, and the old numbers stay what
# they were:

# %%
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
# The third accident, the death of the process that runs the sweep on a cluster, is the same as the first: it is the
# only one that writes the store, and the same call goes on. `python benchmarks/load.py` kills workers and clients at
# random for hours and compares every cell to the bit.

# %% [markdown]
# ## Look, and take it away

# %%
more.plot()

# %% [markdown]
# The number in each field is the median, below it the range over the seeds. Look at the ranges first: fields whose
# ranges overlap widely are not told apart by ten seeds, whatever their colours say. Last, take the numbers somewhere
# else. `earnshaw runs export` writes CSV, JSON or Parquet, one row a cell:

# %%
subprocess.run(
    [*earnshaw, "runs", "export", "1", "--store", store, "--to", folder / "cells.csv"],
    capture_output=True,
    check=True,
)
lines = (folder / "cells.csv").read_text().splitlines()
print(len(lines) - 1, "rows; columns:", lines[0])

# %%
temporary.cleanup()

# %% [markdown]
# The file from above is all that a shell needs: `earnshaw sweep FILE.toml --cluster tcp://HOST:8786` runs it on a
# cluster, `--workers 4` on four cores of this machine, and `earnshaw runs list`, `show` and `export` read the store.
# The short form of this page is [a how-to](../howto/more_machines.md); what else a sweep can run, and how its pictures
# are made, is in [experiments](../experiments.md#sweeps).
#
# ## Exercises
#
# **1.** Write the file from above with `seeds = 10` and `iterations = 5000000`, so that there is time. Run `earnshaw
# sweep FILE.toml --store trial.sqlite --workers 2`, press Ctrl-C in the middle, after the first lines of progress, and
# run it again. Which cells were computed twice? (`earnshaw runs show 1 --store trial.sqlite` says when each was
# finished; make the window wide. The whole takes about a minute.)
#
# **2.** While it runs, start the same command in a second window. What happens, and why is that better than letting
# both write? Then ask with `earnshaw runs list --store trial.sqlite`.
#
# **3.** Edit the file: one more width, 20. How many cells will be computed? Then change `iterations`. And now?
#
# :::{dropdown} What to see
# **1.** None that was finished. On Ctrl-C the command says that what is finished is kept and that the same command goes
# on from there. The second run begins its count where the first one stopped, and cells from before keep their time of
# finishing. Cells come in fives, since five seeds share one compiled run; the ones under way go on from the last state
# that was kept, at most some seconds back. With `kill -9` it is the same without the message.
#
# **2.** The second is refused with one line that names the store and the process that writes it. Two writers would each
# compute everything. Readers are welcome at any time.
#
# **3.** Those of the new width, for both depths and all ten seeds: 20 cells, and the other 40 are there. With another
# number of iterations all 60 are new, and the old ones stay in the file. Each form of the file is a run of its own in
# `earnshaw runs list`.
# :::
