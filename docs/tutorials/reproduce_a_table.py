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
# # Reproduce a table
#
# **The question.** A paper says: networks with one hidden layer can be learned by gradient descent at every width, deeper
# ones cannot. Its evidence is a table of test errors by depth and width. How does one check such a table, when the paper
# leaves half of the settings out?
#
# This is the everyday question of reproduction, with an unusually kind example: the networks are small, the data are
# drawn from a formula, and a run takes seconds. So one can do what is hardly ever possible, vary each thing that was
# left out and see what it changes. The method is the same for larger experiments.

# %% [markdown]
# ## A small version, now
#
# The experiment: a random *teacher* network of some depth and width labels Gaussian inputs; a random student of the
# same shape is trained on them by stochastic gradient descent; the table has the error after a million steps. The
# student could be the teacher, since it has the same shape. So whatever error is left is a failure of training, and
# none of the network. That is what makes the table interesting.
#
# Depth counts layers of weights: depth 2 is the network with one hidden layer that the other tutorials are about. `2x5`
# means depth 2 and width 5. Four cells, with a tenth of the steps and five seeds each:

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import earnshaw as ew

folder = tempfile.TemporaryDirectory()
store = Path(folder.name) / "results.sqlite"
small = ew.reproduce("table2", cells="2x5,2x10,3x5,3x10", seeds=5, iterations=100_000, store=store)


def show(table):
    for row in table.rows:
        print(
            f"depth {row['depth']}, width {row['width']:2}: median {row['median']:.4f} "
            f"({row['low']:.4f} to {row['high']:.4f}), printed {row['printed']:.4f}"
        )


show(small)

# %% [markdown]
# Three things to see, before any comparison with the printed column:
#
# - depth 3 is worse than depth 2 at both widths;
# - the range over five seeds is wide, up to a factor of twenty; a table with one run a cell, as printed tables often are, is a
#   draw from such ranges;
# - with a tenth of the steps the errors are larger than the printed ones, as they should be.
#
# The first of these is the paper's claim, in small. The second is a warning about how to read the third column, or
# anybody's.
#
# ## How far can one trust a median of five?
#
# A range of five seeds says more than it seems to. Each seed is above the true median with probability 1/2, so all five
# are on the same side of it with probability $2\cdot 2^{-5}$: the true median is between the smallest and the largest
# of five in 94 of 100 cases. The middle one of five may be well off. Take twenty seeds of one cell, and look at the
# medians of each five:

# %%
twenty = np.array([run.error for run in ew.train(depth=2, width=5, iterations=100_000, seeds=20)])
print("medians of five:", *(f"{np.median(twenty[i : i + 5]):.4f}" for i in (0, 5, 10, 15)))
low, high = np.sort(twenty)[[5, 14]]
print(
    f"of all twenty: {np.median(twenty):.4f}, the true median is likely in {low:.4f} to {high:.4f}"
)

# %% [markdown]
# Same settings, other seeds, and the median moves by more than a factor of two. A comparison of two cells that differ
# by less says nothing. The interval of the second line uses the sixth smallest and the sixth largest of twenty, by the
# same argument about coins (96 of 100 cases). The whole table reports medians and not means for a related reason: a
# single bad seed can rule a mean.

# %% [markdown]
# ## What was assumed
#
# The paper gives the step size, the number of steps and the distribution of inputs and weights. It does not give the
# input dimension, the batch size, or how the loss is scaled. Filling these in is a *reading* of the paper, and the
# result says which one was used:

# %%
for remark in small.remarks:
    print("-", remark)

# %% [markdown]
# The first line is worth reading word by word. "One fresh sample a step" is a decision: a fixed set of samples that is
# used over and over can be learned by heart. "alpha = 1e-3" is the step size, and *not* the printed one.
#
# Another reading is another table. Compare two of them on the same cells before you call a result reproduced or refuted.
# `literal` takes the printed step size, $10^{-5}$, for one sample a step:

# %%
literal = ew.reproduce(
    "table2", cells="2x5,2x10", reading="literal", seeds=5, iterations=100_000, store=store
)
show(literal)

# %% [markdown]
# With that step hardly anything is learned in this time. Is the reading wrong, or the time too short? With small steps,
# stochastic gradient descent follows the gradient flow, and each step moves time on by the step size. So what counts is
# the product of step size and number of steps. That is a guess which one can test: the same product in three ways, and
# then the product of the literal reading in two.

# %%
for step, steps in (
    (1e-2, 10_000),
    (1e-3, 100_000),
    (1e-4, 1_000_000),
    (1e-5, 100_000),
    (1e-3, 1_000),
):
    runs = ew.train(depth=2, width=5, step=step, iterations=steps, seeds=5)
    errors = " ".join(f"{run.error:.4f}" for run in runs)
    print(f"{steps:7} steps of {step:.0e}, product {step * steps:3.0f}: {errors}")

# %% [markdown]
# Seed by seed the errors agree, closely for the smaller steps: the noise of single samples hardly matters here, only
# the time does. So `literal` is not another experiment, it is the same one stopped a hundred times earlier. Even [with
# all of the million steps](../experiments.md#what-the-papers-do-not-say) it is still far from the printed errors. The
# printed step belongs to another scaling of the loss: with a sum over a hundred samples in place of one sample the
# gradient is a hundred times larger, and the step a hundred times smaller. (That is the reading `summed`.)
#
# ## All of the steps
#
# Now the comparison itself: the four cells with a million steps each, as printed.

# %%
full = ew.reproduce("table2", cells="2x5,2x10,3x5,3x10", seeds=5, iterations=1_000_000, store=store)
show(full)

# %% [markdown]
# All four printed numbers are inside the ranges, and the medians within a factor of about two, which is what medians of
# five seeds are good for. This is what a successful reproduction of a noisy table looks like. It does not say that our
# reading is the one that the authors used. It says that *some* sensible reading has these numbers, and the cell above
# says which did not.

# %% [markdown]
# ## The store
#
# Every cell that was computed is kept in one SQLite file. Asking again for the same costs nothing, and asking for more
# computes only what is missing:

# %%
again = ew.reproduce("table2", cells="2x5,2x10,3x5,3x10", seeds=5, iterations=100_000, store=store)
print("the same rows:", again.rows == small.rows)

# %% [markdown]
# Results are filed under their settings, their seed *and* the version of the code and of JAX: a number in the store was
# made by the code that asks for it, or it is not used. That is stricter than it sounds. After an update of the library
# the same call computes everything anew, and if a number then differs, you know that it was the code, and not the seed.
# `earnshaw runs list --store FILE` shows what a store holds; running many cells on many machines is the subject of [the
# next tutorial](sweep_on_a_cluster.py).

# %% [markdown]
# ## Look at one cell
#
# A median hides the way. `train` gives the error of each seed as it went:

# %%
runs = ew.train(depth=2, width=10, iterations=100_000, seeds=5)
figure, axes = plt.subplots(figsize=(6, 3.2))
for run in runs:
    axes.loglog(np.maximum(run.iterations, 1), run.errors, alpha=0.8)
axes.set(xlabel="steps", ylabel="test error", title="depth 2, width 10: five seeds")
plt.show()

# %%
folder.cleanup()

# %% [markdown]
# First nothing much happens, then each seed falls, at a time of its own. In the picture of [electrons and
# protons](electrons_and_protons.py) these are units that find their partners, some early, some late. After that the
# errors come down about in a straight line in this plot, which means as a power of the number of steps, and they have
# not stopped falling at the right edge. So "under 0.002" is a matter of how long one trains, and "cannot be learned" in
# a table of this kind always means: not in this time.
#
# One more question before a difference between two cells is called one of depth: did both have the same chance? Here they
# all have the same step. A table that tunes the step for each cell would be a fairer one, and a different one.
#
# ## The whole table
#
# `earnshaw reproduce table2` runs its quick version in minutes, `--preset paper` all 20 cells with ten seeds, for
# hours; both can be stopped and started as you like. [Experiments](../experiments.md#table-2-again) has the result: 17
# of 20 cells within a factor 3.
#
# ## Exercises
#
# **1.** Is it depth or the number of weights that makes learning hard? Depth 2 with width 20 has 120 weights (without
# biases), depth 3 with width 10 has 160. Run both cells (`cells="2x20,3x10"`), with a tenth of the steps and with all
# of them, and say what you would need to know before you answer.
#
# **2.** Ask for a reading that does not exist, `reading="sumed"`. Then for `wide-inputs`, at `2x20` and with 100,000
# steps: what does it assume, and what does it do to depth 2?
#
# **3.** Fit a straight line to the logarithm of the error against the logarithm of the step, over the last factor of
# ten of each of the five runs in the picture above. What errors does it promise after a million steps? Run that long,
# and compare.

# %% tags=["hide-cell"]
with tempfile.TemporaryDirectory() as folder:
    store = Path(folder) / "results.sqlite"
    for steps in (100_000, 1_000_000):
        print(f"{steps} steps:")
        show(ew.reproduce("table2", cells="2x20,3x10", seeds=5, iterations=steps, store=store))
    try:
        ew.reproduce("table2", cells="2x20", reading="sumed", store=store)
    except ew.EarnshawError as error:
        print(error)
    wide = ew.reproduce(
        "table2", cells="2x20", reading="wide-inputs", seeds=5, iterations=100_000, store=store
    )
    print(wide.remarks[0])
    show(wide)

curves = ew.train(depth=2, width=10, iterations=100_000, seeds=5)
longer = ew.train(depth=2, width=10, iterations=1_000_000, seeds=5)
for run, truth in zip(curves, longer, strict=True):
    late = run.iterations >= 10_000
    slope, height = np.polyfit(np.log(run.iterations[late]), np.log(run.errors[late]), 1)
    promised = np.exp(height + slope * np.log(1e6))
    print(f"seed {run.seed}: slope {slope:.2f}, promised {promised:.5f}, found {truth.error:.5f}")

# %% [markdown]
# :::{dropdown} What to see
# **1.** The two cells are close after a tenth of the steps, and further apart after all of them: the answer depends on
# when one looks. One would need to know where the curves end, how much either number would move with other seeds, and
# whether the step suits both.
#
# **2.** The message names the reading that you may have meant. `wide-inputs` lets the input dimension grow with the
# width; depth 2 is then far from the printed error.
#
# **3.** A power law that was fitted over one factor of ten need not hold over the next. Compare the guess with what
# came out before you trust such a line anywhere.
# :::
