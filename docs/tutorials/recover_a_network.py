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
# Nobody told it that there are two. The estimator is *node-wise*: it looks for the place where one more unit would explain
# most of what is left, puts a unit there, refits everything, and goes on until another unit is not worth its parameters.
# A unit of tanh can be turned round, $-\tanh(-z) = \tanh(z)$, so signs may come out reversed in pairs: compare the function,
# or the units up to that flip.

# %%
worst = np.max(np.abs(model.predict(x) - y))
print(f"largest error on the table {worst:.1e}")

# %% [markdown]
# ## With noise
#
# Real answers have errors. Add noise of standard deviation 0.2 and fit again. With noise the result is a committee of
# networks, which also says how sure it is.

# %%
noisy = y + 0.2 * rng.normal(size=500)
committee = NodewiseRegressor().fit(x, noisy)
print(f"{committee.n_units_} units, {len(committee.estimators_)} networks in the committee")

new = rng.normal(size=(1000, 3))
error = np.sqrt(np.mean((committee.predict(new) - hidden(new)) ** 2))
print(f"off from the true function by {error:.3f} (the noise is 0.2)")

low, high = committee.predict_interval(new, 0.9)
answers = hidden(new) + 0.2 * rng.normal(size=1000)
print(
    f"its 90 % intervals hold {np.mean((low <= answers) & (answers <= high)):.1%} of new noisy answers"
)

# %% [markdown]
# The error is well below the noise because 500 answers were averaged by few parameters. How does it compare with training
# a network of the right size by gradient descent?

# %%
from sklearn.neural_network import MLPRegressor

peer = MLPRegressor(
    hidden_layer_sizes=(2,), activation="tanh", solver="lbfgs", max_iter=5000, random_state=0
).fit(x, noisy)
error = np.sqrt(np.mean((peer.predict(new) - hidden(new)) ** 2))
print(f"MLPRegressor, told that there are two units: off by {error:.3f}")

# %% [markdown]
# One seed of one peer is an anecdote; `python benchmarks/data.py` runs many.

# %%
committee.plot(x, noisy)

# %% [markdown]
# ## How many rows are enough?

# %%
sizes = (25, 50, 100, 200, 400)
errors, units = [], []
for n in sizes:
    fitted = NodewiseRegressor(n_networks=1).fit(x[:n], noisy[:n])
    errors.append(np.sqrt(np.mean((fitted.predict(new) - hidden(new)) ** 2)))
    units.append(fitted.n_units_)
    print(f"{n:4} rows: {units[-1]} units, off by {errors[-1]:.3f}")

figure, axes = plt.subplots(figsize=(6, 3))
axes.loglog(sizes, errors, "o-")
axes.set(xlabel="rows", ylabel="error of the function")
plt.show()

# %% [markdown]
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
# From a shell, for a table in a file: `earnshaw fit table.csv --target answer`, then `earnshaw predict`.
#
# ## Exercise
#
# Make the second unit weak: `0.2 * np.tanh(...)` instead of `2`. At which noise does the estimator stop finding it? (It
# should: a unit that explains less than the noise hides is not worth three weights and a bias.)
