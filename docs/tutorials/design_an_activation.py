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
# # Design an activation
#
# **The question.** An activation gives its units a force law. Can we go the other way: choose the force that units should
# feel, and get an activation that has it? And if there is none, can we be *told why*?

# %% [markdown]
# ## From an activation to its potential
#
# Two units with weight vectors $\theta$ and $w$ of length 1 see the same Gaussian input. How much their outputs agree on
# average is a function of the cosine $\rho = \theta\cdot w$ alone, the **potential** (or *dual*) of the activation:
#
# $$\Phi(\rho) = \mathbb E[s(X\cdot\theta)\,s(X\cdot w)].$$

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import earnshaw as ew

rho = np.linspace(-1, 1, 201)
figure, axes = plt.subplots(figsize=(6, 3.4))
for name in ("relu", "erf", "sign", "hermite-3"):
    axes.plot(rho, ew.potential(name)(rho), label=name)
axes.set(xlabel="cosine of the angle between two units", ylabel="potential, 1 where they agree")
axes.legend()
plt.show()

# %% [markdown]
# Each curve is divided by its value at $\rho = 1$, and exact; `error_bound` says how far any value may be off. The slope is the force. As a function of the angle
# between two units the potential of `sign` is a straight line, $1 - 2\,\mathrm{angle}/\pi$: its units pull on each other with the
# same force however close they are. The others are smooth where units meet, and their pull fades there.

# %%
for name in ("relu", "erf", "sign"):
    phi = ew.potential(name)
    print(
        f"{name:5} {phi.method:12} error at most {phi.error_bound:.1e}; at rho = 0.5: {phi(0.5):.6f}"
    )

# %% [markdown]
# ## And back
#
# Expand the activation in Hermite polynomials, orthonormal under the Gaussian: $s = \sum a_n\,\mathrm{he}_n$. Then
# $\Phi(\rho) = \sum a_n^2 \rho^n$: the Taylor coefficients of the potential are squares. Read backwards, any function with
# Taylor coefficients $c_n \ge 0$ is the potential of $s = \sum \sqrt{c_n}\,\mathrm{he}_n$. Say we want units that pull
# half linearly, half like a cube:

# %%
wish = ew.realize("(rho + rho^3)/2")
wish

# %%
wish.plot()

# %% [markdown]
# `check_error` is how far the potential of the activation that was found may be from the one we asked for, here rounding.
# Do not believe it; sample:

# %%
x = jax.random.normal(jax.random.key(0), (1_000_000, 2))
theta, w = jnp.array([1.0, 0.0]), jnp.array([0.6, 0.8])
products = wish.activation(x @ theta) * wish.activation(x @ w)
error = products.std() / len(products) ** 0.5
print(f"asked for {(0.6 + 0.6**3) / 2:.4f}, sampled {products.mean():.4f} +- {error:.4f}")

# %% [markdown]
# ## When there is none
#
# The second Legendre polynomial has a negative coefficient, so no activation has it as its potential.

# %%
refused = ew.realize("(3*rho^2 - 1)/2", dim=3)
print(refused.realizable, "-", refused.reason)

# %% [markdown]
# The answer comes with a **witness**, so that nobody has to trust the theory or us: points $x_i$ and numbers $v_i$ with
# $\sum v_i v_j \Phi(x_i, x_j) < 0$. If some activation had this potential the sum would be
# $\mathbb E[(\sum v_i\,\sigma(X, x_i))^2]$, which is not negative. (An activation works for inputs of any dimension, so the points
# may be of one more than the three that we asked about: in $\mathbb R^3$ itself no such points exist for this polynomial.)

# %%
witness = refused.obstruction
print(f"{len(witness.points)} points in R^{witness.points.shape[1]}, weights {witness.weights}")
cosines = witness.points @ witness.points.T
gram = (3 * cosines**2 - 1) / 2
print("the sum, by hand:", witness.weights @ gram @ witness.weights)

# %% [markdown]
# ## On all of space
#
# Units need not be functions of $x\cdot w$. A **translation** unit $h(x - w)/\sqrt{p(x)}$, with $p$ the density of the
# inputs, has a potential that depends on the distance $r = |\theta - w|$; now it is the Fourier transform that must not be
# negative. Springs that let go, in the plane, smooth where units meet:

# %%
spring = ew.realize("(1 + r)*exp(-r)", on="space", dim=2, width=4.0)
print(spring.realizable, "-", spring.reason)
print(
    f"off by about {spring.check_error:.0e} at most, an {'bound' if spring.check_is_bound else 'estimate'}"
)

# %% [markdown]
# and a tent, which looks harmless and is not:

# %%
tent = ew.realize("max(1 - r, 0)", on="space", dim=2)
print(tent.realizable, "-", tent.reason)
print(
    f"a witness of {len(tent.obstruction.points)} points: {tent.obstruction.quadratic_form(tent.potential):.4f} < 0"
)

# %% [markdown]
# In one dimension the tent is fine (it is the overlap of two intervals); in the plane its transform dips below 0.
#
# ## Take it away
#
# An activation that was found is a function like any other: use it in a teacher (`ew.Teacher(positions, weights,
# wish.activation)`), or write it to a file that needs nothing but NumPy.

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    file = ew.export(wish.activation, Path(folder) / "wish.py")
    print("\n".join(file.read_text().splitlines()[:12]))

# %% [markdown]
# ## Exercise
#
# Which of $e^{2(\rho - 1)}$, $1/(2 - \rho)$, $\cos(\pi(1-\rho)/2)$ are realizable? Guess from the Taylor coefficients first,
# then ask `ew.realize`, or `earnshaw realize --potential "1/(2-rho)"`.
