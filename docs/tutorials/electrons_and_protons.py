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
# # Electrons and protons
#
# **The question.** A network of one hidden layer is trained by gradient descent on the squared error. Its units move
# through weight space and push each other about. Is there a picture of that motion in which one can *see* where it
# will end?
#
# There is: every unit is an electric charge. This tutorial builds the picture from two units up to five, and ends with
# the theorem that the library is named after. It needs calculus and an idea of what a neural network is.

# %% [markdown]
# ## Two units
#
# Somewhere there is a hidden network, the **teacher**. Here it has one unit, at the origin of the plane, with output
# weight 1. Its activation is a bump around the unit's position: the further the input is from the position, the less
# the unit says.

# %%
import matplotlib.pyplot as plt
import numpy as np

import earnshaw as ew

teacher = ew.Teacher([[0.0, 0.0]], [1.0], "gaussian")
teacher

# %% [markdown]
# We train a **student** of the same kind. It is described by the positions of its units and their output weights; say
# one unit of weight 1 at distance 1. How wrong is it? The loss is the mean of $(f(X) - g(X))^2$ over Gaussian inputs
# $X$, with $f$ the teacher and $g$ the student.

# %%
student = ew.Student([[1.0, 0.0]], [1.0])
loss = ew.population_loss(teacher)
print(f"exact loss        {loss.value(student):.4f}")

sampled = ew.empirical_loss(teacher, samples=100_000, seed=0)
print(f"of 100000 samples {sampled.value(student):.4f}")

# %% [markdown]
# The first number used no sample at all. The reason is one line of algebra. Let the **potential** of the activation be
#
# $$\Phi(\theta, w) = \mathbb E[\sigma(X, \theta)\,\sigma(X, w)],$$
#
# how much a unit at $\theta$ and a unit at $w$ say the same thing. Expand the square, and the loss of a student with
# weights $c_i$ at $\theta_i$ and a teacher with weights $b_j$ at $w_j$ is
#
# $$L = \sum_{i,i'} c_i c_{i'}\,\Phi(\theta_i, \theta_{i'}) - 2 \sum_{i,j} c_i b_j\,\Phi(\theta_i, w_j)
#     + \sum_{j,j'} b_j b_{j'}\,\Phi(w_j, w_{j'}).$$
#
# That is the energy of a set of charges: student units repel each other where they agree in sign, and are attracted by
# teacher units. So call the student's units **electrons** and the teacher's **protons**. For this activation
# $\Phi = e^{-r^2/2}$ depends on the distance alone, and with one unit each $L = 2 - 2\Phi(r)$:

# %%
distances = np.linspace(0, 4, 41)
losses = np.array([loss.value(ew.Student([[r, 0.0]], [1.0])) for r in distances])
formula = 2 - 2 * np.exp(-(distances**2) / 2)
print(f"largest difference from the formula: {np.max(np.abs(losses - formula)):.0e}")

figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(distances, losses)
axes.set(xlabel="distance r of the electron from the proton", ylabel="loss")
plt.show()

# %% [markdown]
# Gradient descent on $L$ is now a fall: the electron rolls down this curve to $r = 0$, where it says exactly what the
# proton says. Note how flat the curve is far out. A unit that is far from everything hardly feels anything; that will
# matter.

# %% [markdown]
# ## Five electrons among five protons
#
# With more charges the electrons also repel each other. We let go of five of them and follow gradient *flow*, descent
# with infinitely short steps: $\dot\theta = -\tfrac{1}{2} \nabla L$. The potential is now the one that is closest to that
# of real charges in the plane, called `almost-harmonic`; what that means comes at the end.

# %%
protons = ew.random_teacher(
    "almost-harmonic", dim=2, units=5, seed=1, positions="gaussian", weights="ones"
)
electrons = ew.random_student(protons, units=5, seed=2, positions="gaussian", weights="ones")
path = ew.simulate(protons, electrons, time=50.0)
path

# %% [markdown]
# `path.stop` says why the flow ended: `bound` means that every electron sits on a proton and is held there. The energy
# is the loss, and it fell to 0: the student *is* the teacher now, unit by unit. Who met whom, and when:

# %%
for event in path.events:
    print(f"t = {event.time:7.3f}: electron {event.unit} is bound by proton {event.partner}")

# %%
path.plot()

# %% [markdown]
# The last electron took more than a hundred times as long as the first. It started where the forces of all other charges nearly
# cancel.

# %% [markdown]
# ## Where could an electron get stuck?
#
# In the middle of a square of four protons, every force cancels by symmetry. Is that a trap? For a trap the energy
# would have to rise in *every* direction. The library answers with a **certificate**: the kind of point, and the
# numbers that say so.

# %%
corners = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
middle = ew.Student([[0.0, 0.0]], [1.0])


def at_the_middle(activation):
    square = ew.Teacher(corners, [1.0] * 4, activation)
    return ew.certify(ew.population_loss(square, wrt="positions"), middle)


for activation in ("almost-harmonic", "gaussian"):
    found = at_the_middle(activation)
    print(
        f"{activation:16} {found.kind:14} smallest eigenvalue {found.smallest_eigenvalue:+.3f}, "
        f"Laplacian {found.laplacians[0]:+.3f}"
    )

# %% [markdown]
# Under `gaussian` the middle *is* a trap: a local minimum with a positive loss, far from all four protons.
# Under `almost-harmonic` it is a saddle, from which the loss falls.
#
# This is no accident of the square. The Laplacian is the sum of the curvatures in all directions. If the potential of
# each proton has Laplacian $\geq 0$ away from the proton (harmonic: exactly 0), then the energy $-2\sum_j b_j \Phi$ of an
# electron has Laplacian $\leq 0$; curvatures whose sum is not positive are not all positive, so **no place away from
# the protons holds an electron**. Among charges that obey Coulomb's law this is Earnshaw's theorem of 1842. The certificate
# names the version of it that applies:

# %%
for theorem in at_the_middle("almost-harmonic").theorems:
    if theorem.applies:
        print(f"{theorem.sources}: {theorem.guarantees}")

# %% [markdown]
# So the potential decides whether training can get stuck, and the potential is decided by the activation. No activation
# has an exactly harmonic potential, which is infinite where charges meet; `almost-harmonic` has a small core around each
# charge and obeys the theorem outside it. [Design an activation](design_an_activation.py) goes on from here.
#
# ## Exercise
#
# Pull the middle electron 0.3 to the right before you let go, under both activations: with `square = ew.Teacher(corners,
# [1.0] * 4, "gaussian")`, and then `"almost-harmonic"`, ask `ew.simulate(square, ew.Student([[0.3, 0.0]], [1.0]),
# time=50.0)`. Where does it end, and is `path.stop` the same? Then do it with the mouse: in the lab of the
# [first page](../index.md), or with `earnshaw lab` (after `pip install 'earnshaw[lab]'`).
