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
# # Recover a network from data
#
# **The question.** A table of inputs and answers was made by a small network. Can one get the network back: the number of
# its units, their weights, to the last digit? And what is left of that when the answers are noisy?
#
# In the other tutorials we know the hidden network and can compute with it. Here all that there is of it is a table of
# numbers, as in an experiment. We begin with answers that are exact, see how far they lead, and then spoil them.
#
# This needs scikit-learn: `pip install 'earnshaw[sklearn]'`.

# %% [markdown]
# ## Without noise
#
# Two tanh units of three inputs. The table has 500 rows.

# %%
import matplotlib.pyplot as plt
import numpy as np

import earnshaw as ew
from earnshaw.sklearn import NodewiseRegressor

rng = np.random.default_rng(0)


def hidden(x):
    return 3 * np.tanh(x[:, 0] - x[:, 1]) - 2 * np.tanh(x[:, 1] + 2 * x[:, 2])


x = rng.normal(size=(500, 3))
y = hidden(x)
model = NodewiseRegressor().fit(x, y)
print(f"{model.n_units_} units")
print(np.round(model.units_, 6))
print("weights", np.round(model.weights_, 6), "biases", np.round(model.biases_, 6))

# %% [markdown]
# Nobody told it that there are two. A unit of tanh can be turned round, $-\tanh(-z) = \tanh(z)$, so signs may come out
# reversed in pairs: compare the function, or the units up to that flip.
#
# Is it clear that there is only one answer? Could not a quite different network make the same table? For a function
# known everywhere there is none: two tanh networks without superfluous units that are equal as functions have the same
# units, up to their order and such flips. (Not so for relu, where $\mathrm{relu}(z) - \mathrm{relu}(-z) = z$ lets
# straight lines wander from unit to unit.) With 500 rows we know the function at 500 places only, and a network with a
# few more units than rows could pass through all of them. But the small one that does is the needle, and a small
# network that fits 500 exact numbers does not do so by accident.

# %%
worst = np.max(np.abs(model.predict(x) - y))
print(f"largest error on the table {worst:.1e}")

# %% [markdown]
# ## One unit at a time
#
# How does one find a needle? Ordinary training starts with all units in random places and moves them all. The estimator
# is {term}`node-wise`: it looks for the place where one more unit would explain most of what is left, puts a unit
# there, refits everything, and goes on until another unit is not worth its parameters.
#
# One can watch what it sees. Let $r$ be what is left of the answers, and $s$ what a unit in some place would say. With
# its best weight the unit lowers the mean square of $r$ by $\mathbb E[r s]^2 / \mathbb E[s^2]$, the square of a
# correlation. In the language of [electrons and protons](electrons_and_protons.py) this is the field of the charges not
# yet found. Draw it along a circle of directions that goes through both hidden units, first for the answers, then for
# what is left after the first unit:

# %%
first, second = np.array([1.0, -1.0, 0.0]), np.array([0.0, 1.0, 2.0])
e1 = first / np.linalg.norm(first)
e2 = second - (second @ e1) * e1
e2 /= np.linalg.norm(e2)
angles = np.linspace(0, np.pi, 181)


def explained(left):
    inputs = x @ (np.cos(angles)[:, None] * e1 + np.sin(angles)[:, None] * e2).T
    said = np.tanh(2 * inputs)
    return np.mean(left[:, None] * said, axis=0) ** 2 / np.mean(said**2, axis=0) / np.mean(y**2)


bump = np.tanh(x @ first)
left = y - bump * np.mean(y * bump) / np.mean(bump**2)
figure, axes = plt.subplots(figsize=(6, 3.2))
axes.plot(np.degrees(angles), explained(y), label="of the answers")
axes.plot(np.degrees(angles), explained(left), label="of what the first unit leaves")
for unit, style in ((first, ":"), (second, "--")):
    place = abs(np.degrees(np.arctan2(unit @ e2, unit @ e1)))
    axes.axvline(place, color="grey", linestyle=style, label=f"a hidden unit, {place:.0f} degrees")
axes.set(xlabel="direction of a unit, degrees", ylabel="part explained", ylim=(0, 1.4))
axes.legend(fontsize="small", ncols=2, loc="upper center")
plt.show()

# %% [markdown]
# Directions 0 and 180 are the same place, since tanh can be turned round. The first curve has one broad hill, *between*
# the two hidden units: a unit there stands a little for both. So where a unit is placed at first is only a beginning.
# Once the first unit has its share, what is left has its hill close to the second hidden unit. Refitting all units
# together then moves both home. Each step of the fit is in `history_`, with the mean square of what is left, as a part
# of the answers' variance (it begins with a straight line, without units):

# %%
for step in model.history_:
    print(f"{step['action']:10} {step['units']} units, left over {step['error']:.1e}")

# %% [markdown]
# The fall at the second unit is the sign of an exact answer: from a few percent to the square of a rounding error, at
# once. A network of the wrong kind does not show it. Tell the estimator to use other units:

# %%
new = rng.normal(size=(1000, 3))
for activation in ("tanh", "erf", "relu"):
    guess = NodewiseRegressor(activation=activation, criterion="bic").fit(x, y)
    error = np.sqrt(np.mean((guess.predict(new) - hidden(new)) ** 2))
    print(f"{activation:5} {guess.n_units_:3} units, off on new inputs by {error:.1e}")

# %% [markdown]
# erf has nearly the shape of tanh, and still needs several units to imitate two. relu needs many and is never exact.
# Many units and an error that does not vanish mean that the hidden network is made of something else, or that there is
# noise.
#
# ## How many rows are enough?
#
# Two units have three inputs, a bias and a weight each, and there is an intercept. That is 11 unknowns, and as many
# equations could be enough. Could they?

# %%
for n in (10, 14, 20, 30):
    few = NodewiseRegressor().fit(x[:n], y[:n])
    error = np.sqrt(np.mean((few.predict(new) - hidden(new)) ** 2))
    print(f"{n} rows: {few.n_units_} units, off on new inputs by {error:.1e}")

# %% [markdown]
# There is no gradual improvement. With few rows the fit is poor, and from some number of rows on it is exact. To
# *determine* the network a few more rows than unknowns would do. To *find* it the hills in the picture above must be
# there, and an average over few rows is a rough guide to where they are.
#
# ## With noise
#
# Real answers have errors. Add noise of standard deviation 0.2 and fit again. The estimator notices by itself: where a
# unit does not pay off at once, there is noise. Then it trains networks of several sizes, weighs each by how probable
# it is given the data (the *evidence*, which charges a network for every parameter that it has to tune), and keeps a
# committee, which also says how sure it is.

# %%
noisy = y + 0.2 * rng.normal(size=500)
committee = NodewiseRegressor().fit(x, noisy)
print(f"{committee.n_units_} units, {len(committee.estimators_)} networks in the committee")

error = np.sqrt(np.mean((committee.predict(new) - hidden(new)) ** 2))
print(f"off from the true function by {error:.3f} (the noise is 0.2)")

low, high = committee.predict_interval(new, 0.9)
answers = hidden(new) + 0.2 * rng.normal(size=1000)
print(
    f"its 90 % intervals hold {np.mean((low <= answers) & (answers <= high)):.1%} of new noisy answers"
)

# %% [markdown]
# The error is well below the noise because 500 answers were averaged by few parameters. And the intervals hold about
# what they promise. Are the *units* back as well? The best network of the committee has them, with standard errors:

# %%
for unit in range(committee.n_units_):
    numbers = zip(committee.units_[unit], committee.units_std_[unit], strict=True)
    print(
        *(f"{value:+.3f} +- {std:.3f}" for value, std in numbers),
        f"weight {committee.weights_[unit]:+.2f} +- {committee.weights_std_[unit]:.2f}",
        f"told apart: {committee.identifiable_[unit]}",
    )

# %% [markdown]
# The truth is within about two standard errors everywhere (up to a flip). This is what is left of "to the last digit":
# noise of 0.2 leaves two digits. `identifiable_` says of each unit whether the data determine it, or whether its weight
# might as well be 0 or another unit's. It is worth a look whenever there is noise, because the networks that are tried
# have 0, 2, 4, 8, ... units, and a count of 4 may be 3 real units and one that does nothing. Who wants a count asks for
# `criterion="bic"`, which adds units one by one, as above, and stops when the next is not worth it; it has no error
# bars.
#
# Error bars should grow where there are no data. Ask further and further out:

# %%
for factor in (1, 2, 4):
    said, deviation = committee.predict(factor * new, return_std=True)
    off = np.sqrt(np.mean((said - hidden(factor * new)) ** 2))
    print(f"inputs times {factor}: off by {off:.3f}, mean deviation said {np.mean(deviation):.3f}")

# %% [markdown]
# The deviation is that of a new answer. It has the noise in it, as far as it can be told from the table, and so starts
# near 0.2. Further out both columns grow.
#
# How does this compare with training a network of the right size by gradient descent?

# %%
from sklearn.neural_network import MLPRegressor

peer = MLPRegressor(
    hidden_layer_sizes=(2,), activation="tanh", solver="lbfgs", max_iter=5000, random_state=0
).fit(x, noisy)
error = np.sqrt(np.mean((peer.predict(new) - hidden(new)) ** 2))
print(f"MLPRegressor, told that there are two units: off by {error:.3f}")

# %% [markdown]
# Told the right size, the peer does as well or better here; it does not say how sure it is, nor what the size should
# be. One seed of one peer is an anecdote; `python benchmarks/data.py` runs many.

# %%
committee.plot(x, noisy)

# %% [markdown]
# If the points at the upper left curved away from the line, or what is missed had a shape, the network would lack
# something. On the right is the growth: with two units all is explained that can be, and more units change nothing.
# Below are the units, by the inputs that they look at.
#
# ## Rows against noise
#
# Without noise there was a threshold. With noise each row adds a little knowledge. The usual count is that $n$ rows and
# $p$ parameters leave an error of the noise times $\sqrt{p/n}$:

# %%
sizes = (25, 50, 100, 200, 400)
errors, units = [], []
for n in sizes:
    fitted = NodewiseRegressor(n_networks=1).fit(x[:n], noisy[:n])
    errors.append(np.sqrt(np.mean((fitted.predict(new) - hidden(new)) ** 2)))
    units.append(fitted.n_units_)
    print(
        f"{n:4} rows: {units[-1]} units, off by {errors[-1]:.3f}; "
        f"noise times sqrt(11/n) is {0.2 * (11 / n) ** 0.5:.3f}"
    )

figure, axes = plt.subplots(figsize=(6, 3))
axes.loglog(sizes, errors, "o-", label="found")
axes.loglog(sizes, 0.2 * np.sqrt(11 / np.array(sizes)), "--", label="noise times sqrt(11/n)")
axes.set(xlabel="rows", ylabel="error of the function")
axes.set_xticks(sizes, sizes)
axes.set_yticks((0.03, 0.1, 0.3), ("0.03", "0.1", "0.3"))
axes.minorticks_off()
axes.legend()
plt.show()

# %% [markdown]
# The rule of thumb holds roughly, from some rows on. Four times the rows, half the error: two digits more would cost
# ten thousand times the rows.
#
# ## Take it away
#
# The fitted network as a file that needs NumPy only:

# %%
import runpy
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    file = ew.export(model, Path(folder) / "network.py")
    print("\n".join(file.read_text().splitlines()[:20]))
    alone = runpy.run_path(str(file))["predict"](x)
print("the same answers:", np.allclose(alone, model.predict(x)))

# %% [markdown]
# From a shell, for a table in a file: `earnshaw fit table.csv --target answer`, then `earnshaw predict table.model.npz
# new.csv`. (The command shows units by standard deviations of the columns, and biases at the mean input. So a 1 that
# you know may be a 0.98 there, and a bias of 0 another number.) More about data, missing entries, texts and classes is
# in [learning from data](../data.md); why one unit at a time, in [the concept](../concepts/node_wise_learning.md).
#
# ## Exercises
#
# **1.** Make the second unit weak: `0.2 * np.tanh(...)` instead of `2`. Use `NodewiseRegressor(criterion="bic")`. At
# which noise does the estimator stop finding it? (It should: a unit that explains less than the noise hides is not
# worth three weights and a bias.)
#
# **2.** Add a third unit with a bias, `np.tanh(x[:, 0] + x[:, 1] + x[:, 2] - 1)`. Is it found without noise, with its
# bias? With noise of 0.2, what do `n_units_` and `identifiable_` say, and what does `criterion="bic"`?
#
# **3.** Give the estimator three more columns of random numbers that have nothing to do with the answers. Guess the
# effect on the error; then look at `relevance_`.

# %% tags=["hide-cell"]
for sd in (0.0, 0.1, 0.2, 0.4, 0.6, 0.8):
    weak = 3 * np.tanh(x[:, 0] - x[:, 1]) - 0.2 * np.tanh(x[:, 1] + 2 * x[:, 2])
    weak += sd * np.random.default_rng(1).normal(size=500)
    grown = NodewiseRegressor(criterion="bic").fit(x, weak)
    print(f"noise {sd}: {grown.n_units_} units, the last {np.round(grown.units_[-1], 2) + 0.0}")

three = y + np.tanh(x[:, 0] + x[:, 1] + x[:, 2] - 1)
exact = NodewiseRegressor().fit(x, three)
print("three units, no noise:", exact.n_units_, "biases", np.round(exact.biases_, 6) + 0.0)
three += 0.2 * rng.normal(size=500)
for criterion in ("evidence", "bic"):
    found = NodewiseRegressor(criterion=criterion, n_networks=1).fit(x, three)
    print(f"with noise, {criterion}: {found.n_units_} units, told apart {found.identifiable_}")

wide = np.hstack([x, rng.normal(size=(500, 3))])
found = NodewiseRegressor(n_networks=1).fit(wide, noisy)
wide_new = np.hstack([new, rng.normal(size=(1000, 3))])
error = np.sqrt(np.mean((found.predict(wide_new) - hidden(new)) ** 2))
print(f"six columns: off by {error:.3f}, relevance", np.round(found.relevance_, 4))

# %% [markdown]
# :::{dropdown} What to see
# **1.** The count stays at two as long as the noise is small, and then falls to one. Before that, look at the last
# unit: its *shape* goes first. With noise well above the unit's own size it comes out as a steep step, since in a few
# hundred noisy rows nothing tells a step from a smooth turn.
#
# **2.** Without noise it is found, with its bias. With noise the default reports four units, of which one is not told
# apart; `bic` counts three.
#
# **3.** The error stays about what it was, because the evidence finds a weight scale for each column, and that of idle
# columns goes to 0. `relevance_` shows which they are.
# :::
