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
#
# Why would one want to? [Electrons and protons](electrons_and_protons.py) ends with a theorem: whether training can get
# stuck is decided by the potential, and the potential by the activation. Whoever wants good potentials has to know
# which ones can be had.

# %% [markdown]
# ## From an activation to its potential
#
# Two units with weight vectors $\theta$ and $w$ of length 1 see the same Gaussian input. How much their outputs agree on
# average is a function of the cosine $\rho = \theta\cdot w$ alone, the **potential** (or *dual*) of the activation:
#
# $$\Phi(\rho) = \mathbb E[s(X\cdot\theta)\,s(X\cdot w)].$$
#
# Why of the cosine alone? The Gaussian cloud of inputs is round, so only the angle between the two vectors can matter.
# Put differently: $u = X\cdot\theta$ and $v = X\cdot w$ are two Gaussian numbers of mean 0 and variance 1 with
# correlation $\rho$, and the potential is the mean of $s(u)\,s(v)$. At $\rho = 1$ the two numbers are equal; at $\rho =
# 0$ they know nothing of each other. The dimension does not enter.

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
# Each curve is divided by its value at $\rho = 1$, so that all meet in the upper right corner. They are not sampled but
# computed, from closed forms where there are any, and `error_bound` says how far any value may be off:

# %%
for name in ("relu", "erf", "sign"):
    phi = ew.potential(name)
    print(
        f"{name:5} {phi.method:12} error at most {phi.error_bound:.1e}; at rho = 0.5: {phi(0.5):.6f}"
    )

# %% [markdown]
# The slope is the force. Measure it along the way that a unit would really go, which is an arc of angle $t$ with $\rho
# = \cos t$. The pull towards smaller angles is then $\sin t\;\Phi'(\cos t)$:

# %%
for name in ("relu", "erf", "sign"):
    phi = ew.potential(name)
    pulls = [np.sin(t) * phi.first(np.cos(t)) for t in (0.5, 0.1, 0.01)]
    print(f"{name:5} pull at angles 0.5, 0.1, 0.01:", *(f"{pull:.4f}" for pull in pulls))

# %% [markdown]
# The units of `sign` pull on each other with the same force however close they are: as a function of the angle their
# potential is the straight line $1 - 2t/\pi$, with a corner, a {term}`cusp`, at 0. The pull of the others fades in
# proportion to the angle, as that of a spring does. A jump of the activation makes the difference: two nearly equal
# sign units disagree on a thin wedge of inputs, whose size is proportional to the angle. Two nearly equal units without
# a jump differ by a little wherever they differ, and the mean square of that is of second order.

# %% [markdown]
# ## And back
#
# To invert the map we need coordinates in which it is simple. Fourier series do that for waves; for Gaussian numbers it
# is the Hermite polynomials $\mathrm{he}_n$. They are what one gets from $1, x, x^2, \ldots$ by making each orthogonal
# to the ones before, in the sense that the mean of the product under the Gaussian is 0, and of mean square 1:
# $\mathrm{he}_0 = 1$, $\mathrm{he}_1 = x$, $\mathrm{he}_2 = (x^2 - 1)/\sqrt{2}$, $\mathrm{he}_3 = (x^3 - 3x)/\sqrt{6}$.
# For two Gaussian numbers of correlation $\rho$ they stay orthogonal, and each only shrinks:
#
# $$\mathbb E[\mathrm{he}_m(u)\,\mathrm{he}_n(v)] = \rho^n \text{ if } m = n, \text{ else } 0.$$
#
# For $n = 1$ that is the definition of correlation. So expand the activation, $s = \sum a_n\,\mathrm{he}_n$, multiply,
# and take the mean. All mixed terms vanish, and
#
# $$\Phi(\rho) = \sum_n a_n^2\, \rho^n .$$
#
# The Taylor coefficients of the potential are squares. They say how much of the activation is of which degree, and add
# up to 1 since we divided by $\Phi(1)$:

# %%
print("degree    ", *(f"{n:6}" for n in range(8)))
for name in ("relu", "erf", "sign", "hermite-3"):
    print(f"{name:10}", *(f"{share:6.3f}" for share in ew.potential(name).taylor(8)[:8]))

# %% [markdown]
# erf is nearly linear. sign has a long tail of high degrees: what jumps needs them, and they make the corner. relu has
# degrees 0 and 1, and even ones.
#
# Read backwards, any function with Taylor coefficients $c_n \ge 0$ of finite sum is the potential of $s = \sum
# \sqrt{c_n}\,\mathrm{he}_n$. Say we want units that pull half linearly, half like a cube:

# %%
wish = ew.realize("(rho + rho^3)/2")
print(wish)

# %%
wish.plot()

# %% [markdown]
# The library has taken the square roots of 1/2 and 1/2. Upper left is the activation, lower left the force against the
# angle: weakest at a right angle, where the cube is flat and only the linear part pulls. `check_error` is how far the
# potential of the activation that was found may be from the one we asked for, here rounding. Do not believe it; sample:

# %%
x = jax.random.normal(jax.random.key(0), (1_000_000, 2))
theta, w = jnp.array([1.0, 0.0]), jnp.array([0.6, 0.8])
products = wish.activation(x @ theta) * wish.activation(x @ w)
error = products.std() / len(products) ** 0.5
print(f"asked for {(0.6 + 0.6**3) / 2:.4f}, sampled {products.mean():.4f} +- {error:.4f}")

# %% [markdown]
# The sample agrees within about one and a half of its standard errors. One sees also how much work a formula saves: a
# million inputs give two digits.
#
# A square root has two signs. The potential does not tell which one was squared, so other activations have the very
# same potential. Activations may be given as formulas, and the one with the minus is

# %%
plus = ew.potential("(x + (x^3 - 3*x)/sqrt(6))/sqrt(2)")
minus = ew.potential("(x - (x^3 - 3*x)/sqrt(6))/sqrt(2)")
wanted = (rho + rho**3) / 2
for name, phi in (("plus", plus), ("minus", minus)):
    print(f"{name:5} differs from the wish by at most {np.max(np.abs(phi(rho) - wanted)):.0e}")

x = np.linspace(-3, 3, 121)
figure, axes = plt.subplots(figsize=(6, 3))
for sign in (1, -1):
    label = "linear plus cubic" if sign > 0 else "linear minus cubic"
    axes.plot(x, (x + sign * (x**3 - 3 * x) / 6**0.5) / 2**0.5, label=label)
axes.set(xlabel="input of the unit", ylabel="its output")
axes.legend()
plt.show()

# %% [markdown]
# Two curves that look unlike, and networks made of them learn in exactly the same way: the same loss for the same
# positions and weights, the same gradients, the same landscape, as long as lengths stay 1. The squared loss never sees
# more of an activation than its potential.
#
# ## When there is none
#
# The second Legendre polynomial has a negative coefficient, so no activation has it as its potential.

# %%
refused = ew.realize("(3*rho^2 - 1)/2", dim=3)
print(refused.realizable, "-", refused.reason)

# %% [markdown]
# The answer comes with a **witness**, so that nobody has to trust the theory or us: points $x_i$ and numbers $v_i$ with
# $\sum v_i v_j \Phi(x_i, x_j) < 0$. Suppose that some activation had this potential. Build a network with units at the
# points $x_i$ and output weights $v_i$. The mean square of what it says, multiplied out, is just that sum,
#
# $$\mathbb E\left[\left(\sum_i v_i\,\sigma(X, x_i)\right)^2\right] = \sum_{i,j} v_i v_j\,\Phi(x_i, x_j),$$
#
# and a mean square is not negative. In the language of charges: a set of charges with an energy below that of empty
# space. A witness is finite, and one can check it with a pocket calculator:

# %%
witness = refused.obstruction
print(f"{len(witness.points)} points in R^{witness.points.shape[1]}, weights {witness.weights}")
cosines = witness.points @ witness.points.T
gram = (3 * cosines**2 - 1) / 2
print("the sum, by hand:", witness.weights @ gram @ witness.weights)
print("positive semidefinite in R^3:", refused.positive_semidefinite)

# %% [markdown]
# The four points are at right angles to each other, each pair has $\Phi(0) = -1/2$, and there are more pairs than
# points. The last line is a finer point. In $\mathbb R^3$ there is room for only three such points, and no other points
# there make the sum negative either. But a function $s$ of one number works for inputs of any dimension, four as well,
# and so four dimensions are enough to exclude it. For the same reason the Taylor coefficients do not mention the
# dimension.
#
# How does one mend a refused wish? Add what is missing, and accept that it is another wish. With 1/2 added the
# polynomial above is $\tfrac{3}{2}\rho^2$, which is fine. That changes the force by nothing at all, since a constant
# has no slope: what one asks of a force law is always asked up to the constant.
#
# ## On all of space
#
# Units need not be functions of $x\cdot w$. A **translation** unit $h(x - w)/\sqrt{p(x)}$ has $p$, the density of the
# inputs, under the root. Write the mean of a product of two such units as an integral, and the density cancels:
#
# $$\Phi(\theta, w) = \int p(x)\,\frac{h(x - \theta)}{\sqrt{p(x)}}\,\frac{h(x - w)}{\sqrt{p(x)}}\,dx = \int h(x - \theta)\,h(x - w)\,dx.$$
#
# That depends on the difference $\theta - w$ only, and if $h$ is round, on the distance $r$. It is the overlap of a
# shape with its own copy, moved away by $r$. The Fourier transform turns such an overlap into a square, $|\hat h|^2$.
# So what the Taylor coefficients were on the sphere the Fourier transform is here: it must not be negative anywhere,
# and then its square root gives $h$. Springs that let go, in the plane, smooth where units meet:

# %%
spring = ew.realize("(1 + r)*exp(-r)", on="space", dim=2, width=4.0)
print(spring.realizable, "-", spring.reason)
print(
    f"off by about {spring.check_error:.0e} at most, an {'bound' if spring.check_is_bound else 'estimate'}"
)

# %% [markdown]
# "To 2e-15 of its maximum, up to |omega| = 160" is what a computer can say of a transform at infinitely many
# frequencies. On the sphere the answer was a theorem about finitely many coefficients; here the verdict is numerical,
# and `check_is_bound` tells which of the two you have.

# %%
spring.plot()

# %% [markdown]
# Lower left is the force: nothing at distance 0, as in a spring at rest, most at 1, and then it lets go. Lower right
# says where Earnshaw's argument holds: the Laplacian is positive from distance 2 on, so far charges hold nobody, and
# close ones may.
#
# And a tent, which looks harmless and is not:

# %%
tent = ew.realize("max(1 - r, 0)", on="space", dim=2)
print(tent.realizable, "-", tent.reason)
print(
    f"a witness of {len(tent.obstruction.points)} points: {tent.obstruction.quadratic_form(tent.potential):.4f} < 0"
)

# %% [markdown]
# In the plane the transform of the tent dips below 0. In one dimension it does not:

# %%
line = ew.realize("max(1 - r, 0)", on="space", dim=1)
print(
    line.realizable,
    "- h at 0.1, 0.3, 1.0:",
    *(f"{value:.3f}" for _, value in line.found.leading[:3]),
)
for dim in (3, 4):
    squared = ew.realize("max(1 - r, 0)^2", on="space", dim=dim)
    print(f"the tent squared, d = {dim}: {squared.realizable}")

# %% [markdown]
# On the line the library has found the shape that one could have guessed: $h$ is 1 up to some distance below 1 and 0
# beyond, a box. Two boxes of length 1 overlap by $1 - r$, and that is the tent. The dimension counts here: the same
# profile may have an activation in low dimensions and none in higher ones, and the last two lines show where the
# squared tent loses it. The reason is that the Fourier transform of a round function is another one in each dimension.
#
# The potential that one would like best, Coulomb's, is refused for another reason: it is infinite where charges meet.
# What to do about that is told in [activations and potentials](../concepts/correspondence.md).
#
# ## Take it away
#
# An activation that was found is a function like any other. Hide three units that use it at right angles, and let
# gradient descent look for them:

# %%
teacher = ew.Teacher(np.eye(3), np.ones(3), wish.activation, on="sphere")
run = ew.learn(teacher, "gd", seed=0)
print(f"relative loss {run.relative_loss:.0e}, certificate: {run.certificate.kind}")
for position, weight in zip(run.student.positions, run.student.weights, strict=True):
    print("position", np.round(position, 3) + 0.0, f"weight {weight:+.3f}")

# %% [markdown]
# Some unit may have come out reversed, with the opposite weight. Our activation is odd, $s(-z) = -s(z)$, so that is the
# same function.
#
# Or write the activation to a file that needs nothing but NumPy.

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    file = ew.export(wish.activation, Path(folder) / "wish.py")
    print("\n".join(file.read_text().splitlines()[:12]))

# %% [markdown]
# How to use an activation of your own, with or without a closed form, is in [a how-to](../howto/own_activation.md).
#
# ## Exercises
#
# **1.** Which of $e^{2(\rho - 1)}$, $1/(2 - \rho)$, $\cos(\pi(1-\rho)/2)$ are realizable? Guess from the Taylor
# coefficients first, then ask `ew.realize`, or `earnshaw realize --potential "1/(2-rho)"`.
#
# **2.** Half the angle: $\sqrt{(1+\rho)/2}$ is the cosine of half the angle between two units, positive, smooth where
# they meet, and falling all the way. Is it realizable? Check the witness that you get by hand.
#
# **3.** Find the smallest $a$ for which $(3\rho^2 - 1)/2 + a$ is realizable, and then the smallest $a$ for which
# $\rho^3 - \rho^2 + a\rho$ is.

# %% tags=["hide-cell"]
for formula in (
    "exp(2*(rho - 1))",
    "1/(2 - rho)",
    "cos(pi*(1 - rho)/2)",
    "sqrt((1 + rho)/2)",
    "(3*rho^2 - 1)/2 + 0.5",
    "(3*rho^2 - 1)/2 + 0.49",
    "rho^3 - rho^2 + 100*rho",
):
    answer = ew.realize(formula)
    print(f"{formula}: {answer.realizable}; {answer.reason}")

found = ew.realize("sqrt((1 + rho)/2)").obstruction
gram = np.sqrt(np.maximum(1 + found.points @ found.points.T, 0) / 2)
print(f"the witness of the half angle, by hand: {found.weights @ gram @ found.weights:.4f}")

# %% [markdown]
# :::{dropdown} What to see
# **1.** The first two are. $e^{2\rho}$ has the coefficients $2^n/n!$, and $1/(2-\rho)$ is a geometric series. The third
# is $\sin(\pi\rho/2)$, whose coefficients alternate in sign.
#
# **2.** It is not: the square root bends downwards, and its second coefficient is negative. Monotone is not enough.
#
# **3.** $a = 1/2$. For the second there is none: the coefficient of $\rho^2$ is $-1$ whatever $a$ is.
# :::
