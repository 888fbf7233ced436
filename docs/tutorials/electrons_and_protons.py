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
# $X$, with $f$ the teacher and $g$ the student. In practice one draws inputs and takes an average. The library can do
# that too, and it can do without:

# %%
student = ew.Student([[1.0, 0.0]], [1.0])
loss = ew.population_loss(teacher)
print(f"exact {loss.value(student):.4f}")

for samples in (1000, 100_000):
    values = [
        ew.empirical_loss(teacher, samples=samples, seed=seed).value(student) for seed in range(4)
    ]
    print(f"{samples:6} samples, four times:", *(f"{value:.4f}" for value in values))

# %% [markdown]
# The rows of samples scatter around the first number, less so with more samples. The first number used no sample at
# all.
#
# ## Why there is an exact number
#
# The reason is one line of algebra. Write the student as $g = \sum_i c_i\,\sigma(x, \theta_i)$, with weights $c_i$ and
# positions $\theta_i$, and the teacher as $f = \sum_j b_j\,\sigma(x, w_j)$. The square of the difference has only three
# sorts of terms: two student units, a student and a teacher unit, two teacher units. Each term is a product of two
# activations, and all that is left to do is to take its mean. So give that mean a name, the **potential** of the
# activation:
#
# $$\Phi(\theta, w) = \mathbb E[\sigma(X, \theta)\,\sigma(X, w)].$$
#
# It tells how much a unit at $\theta$ and a unit at $w$ say the same thing. With it the loss is
#
# $$L = \sum_{i,i'} c_i c_{i'}\,\Phi(\theta_i, \theta_{i'}) - 2 \sum_{i,j} c_i b_j\,\Phi(\theta_i, w_j)
#     + \sum_{j,j'} b_j b_{j'}\,\Phi(w_j, w_{j'}).$$
#
# A physicist who sees this formula thinks of charges. Charges of size $c_i$ sit at $\theta_i$, fixed charges of size
# $b_j$ sit at $w_j$, and each pair has an energy that is the product of the charges times a function of where they are.
# The first sum rises when two student units of the same sign come close and say the same thing twice: they repel each
# other. The second falls when a student unit comes close to a teacher unit of its own sign: they attract. The third
# does not depend on the student. So call the student's units **electrons**, since they move, and the teacher's
# **protons**, since they stay. The output weight is the charge, the hidden weight vector is the place. [Charges and
# energies](../concepts/charges_and_energies.md) has the same in a page.
#
# Nothing in this depends on the bump. Another activation has another $\Phi$, and so other forces between the same
# charges. For the bump, $\Phi = e^{-r^2/2}$ depends on the distance $r$ alone, and with one unit each
# $L = \Phi(0) - 2\Phi(r) + \Phi(0) = 2 - 2\Phi(r)$:

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
# proton says. Note how flat the curve is far out. A unit that is far from everything hardly feels anything.
#
# ## The fall, in time
#
# To follow the motion we make the steps of descent infinitely short. That is gradient {term}`flow`, $\dot\theta =
# -\tfrac{1}{2} \nabla L$. The velocity *is* the force: the charges move as if through honey, without momentum, so they
# never overshoot or swing. Under the bump's potential the distance obeys $\dot r = -r\,e^{-r^2/2}$. Near the proton
# that is $\dot r = -r$, and the rest of the way shrinks by the same factor in every unit of time. Far out the
# exponential rules, and hardly anything moves. Let go of an electron at four distances, and wait for a time of 20:

# %%
for start in (0.5, 1.0, 3.0, 4.0):
    fall = ew.simulate(teacher, ew.Student([[start, 0.0]], [1.0]), time=20.0)
    left = np.linalg.norm(fall.positions[-1, 0])
    print(f"from {start}: at {left:.1e} when t = {fall.times[-1]:.1f}, stop: {fall.stop}")

# %% [markdown]
# `stop` says why the flow ended. `equilibrium` means that nothing moves any more, as far as the tolerances can tell;
# `time` means that the time was over first. The last electron has hardly started. Nothing holds it, and nothing is wrong
# with the computation: the force is there and tiny. Someone who trains such a unit and watches the loss would say that
# training is stuck. It is worth keeping apart *slow* and *stuck*, and most of this page is about the second.
#
# A charge of the wrong sign is another way to go nowhere. Give the electron the weight $-1$:

# %%
repelled = ew.simulate(teacher, ew.Student([[1.0, 0.0]], [-1.0]), time=100.0)
print(f"energy {repelled.energy[0]:.2f} -> {repelled.energy[-1]:.2f}, stop: {repelled.stop}")
print("it ends at", np.round(repelled.positions[-1, 0], 2))

# %% [markdown]
# It runs away. A student that can only say the opposite of the truth does best by saying it where nobody listens. Its
# energy comes down towards 2, the loss of two units that have nothing to do with each other.

# %% [markdown]
# ## Five electrons among five protons
#
# With more charges the electrons also repel each other, and formulas for the way end here; the picture does not. We let
# go of five electrons, all of weight 1. The potential is now the one that is closest to that of real charges in the
# plane, called `almost-harmonic`; what that means comes at the end.

# %%
protons = ew.random_teacher(
    "almost-harmonic", dim=2, units=5, seed=1, positions="gaussian", weights="ones"
)
electrons = ew.random_student(protons, units=5, seed=2, positions="gaussian", weights="ones")
path = ew.simulate(protons, electrons, time=50.0)
print(path)

# %% [markdown]
# Here `stop` is `bound`: every electron sits on a proton and is held there. This potential has a peak with a corner, a
# {term}`cusp`, where two charges meet. Its pull does not fade as they come close, so an electron arrives after a finite
# time, and the moment of arrival can be named. The energy is the loss, and it fell to 0: the student *is* the teacher
# now, unit by unit. Who met whom, and when:

# %%
for event in path.events:
    print(f"t = {event.time:7.3f}: electron {event.unit} is bound by proton {event.partner}")

# %%
path.plot()

# %% [markdown]
# On the left are the ways, from the small circles to the rings; the shades are the potential that one of the electrons
# felt in the beginning. On the right is the energy. It comes down in stairs: each fall is an arrival, and each tread is
# a time in which hardly anything happens. Training curves of networks often look like this. In this picture a tread is
# an electron under way.
#
# The last electron took more than a hundred times as long as the first. Every pair forms a neutral whole once it is
# bound: outside, the fields of the two cancel. So the later an electron is, the fewer charges are left for it to feel,
# and the last one crosses a plane that is empty but for its one partner. The picture of slow training is that of a late
# electron on a long way.
#
# Is that a matter of luck with the start? Ten other starts, for both potentials:

# %%
for activation in ("almost-harmonic", "gaussian"):
    hidden = ew.random_teacher(
        activation, dim=2, units=5, seed=1, positions="gaussian", weights="ones"
    )
    ends = []
    for seed in range(10, 20):
        start = ew.random_student(hidden, units=5, seed=seed, positions="gaussian", weights="ones")
        ends.append(ew.simulate(hidden, start, time=2000.0))
    stops = sorted({end.stop for end in ends})
    print(
        f"{activation:16} ended by {', '.join(stops)}; times {min(end.times[-1] for end in ends):.0f} "
        f"to {max(end.times[-1] for end in ends):.0f}, largest loss {max(end.energy[-1] for end in ends):.0e}"
    )

# %% [markdown]
# All of them found the teacher, under both. Under the smooth bump it takes longer until nothing moves, because its pull
# fades on the last stretch. Success in ten runs is not a reason, though, and it says nothing about other protons. For a
# reason we have to ask where an electron *could* rest.

# %% [markdown]
# ## Where could an electron get stuck?
#
# In the middle of a square of four protons every force cancels by symmetry. Is that a trap? For a trap the energy
# would have to rise in *every* direction. Draw the energy of one electron, as a function of its place:

# %%
corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
line = np.linspace(-1.6, 1.6, 161)
places = np.stack(np.meshgrid(line, line), axis=-1)
distance = np.linalg.norm(places[..., None, :] - corners, axis=-1)

figure, panels = plt.subplots(1, 2, figsize=(8, 3.9), sharey=True, layout="constrained")
for axes, activation in zip(panels, ("almost-harmonic", "gaussian"), strict=True):
    energy = -2 * np.sum(ew.potential(activation, dim=2)(distance), axis=-1)
    shades = axes.contourf(line, line, energy, levels=24, cmap="viridis")
    axes.plot(*corners.T, "o", color="tab:red", markeredgecolor="white")
    axes.plot(0, 0, "x", color="white")
    axes.set(title=activation, xlabel="first coordinate", aspect="equal")
    figure.colorbar(shades, ax=axes, shrink=0.75, label="energy")
panels[0].set_ylabel("second coordinate")
plt.show()

# %% [markdown]
# Dark is low. On the left each proton (red) has a pit of its own, and the middle (white cross) is the top of a low hill
# between them. On the right the four wide pits have run together into one, and its bottom is the middle. The library
# says the same in numbers. It answers with a **certificate**: the kind of point, and what shows it.

# %%
middle = ew.Student([[0.0, 0.0]], [1.0])


def at_the_middle(activation, size=1.0):
    square = ew.Teacher(size * corners, [1.0] * 4, activation)
    return ew.certify(ew.population_loss(square, wrt="positions"), middle)


for activation in ("almost-harmonic", "gaussian"):
    found = at_the_middle(activation)
    print(
        f"{activation:16} {found.kind:14} smallest eigenvalue {found.smallest_eigenvalue:+.3f}, "
        f"Laplacian {found.laplacians[0]:+.3f}"
    )

# %% [markdown]
# The gradient is 0 in both. The eigenvalues of the Hessian are the curvatures of the energy. Under `gaussian` the
# smallest is positive and the middle *is* a trap: a local minimum away from all four protons. Under `almost-harmonic`
# it is what the library calls a strict saddle: a place from which the loss falls, in at least one direction. Here it
# falls in both, since the two curvatures are equal by symmetry and their sum, the Laplacian, is twice the smallest.

# %% [markdown]
# ## Earnshaw's theorem
#
# This is no accident of the square. The {term}`Laplacian <harmonic>` is the sum of the curvatures in all directions,
# and it can be computed proton by proton: if each proton's potential has Laplacian $\Delta\Phi$ at the electron, the
# energy $-2\sum_j b_j \Phi$ of an electron of weight 1 has Laplacian $-2\sum_j b_j\,\Delta\Phi$. Now suppose that
# $\Delta\Phi \geq 0$ away from the proton, and that all $b_j$ are positive. Then the curvatures of the energy add up to
# 0 or less. Numbers whose sum is not positive are not all positive. So where a Hessian could show a minimum, it does
# not: **no place away from the protons holds an electron**. (Where all curvatures are 0 a finer argument is needed, by
# means over spheres; it is next.) Among charges that obey Coulomb's law, for which $\Delta\Phi$ is exactly 0, this is
# Earnshaw's theorem of 1842.
#
# There is a way to see it without any derivative. Where a function has Laplacian 0, its value at a point is the mean of
# its values on any circle around that point, as long as the disc holds no charge. A smallest value cannot be the mean
# of larger ones. If the Laplacian is negative the mean is even below the value in the middle. Take a circle of radius
# 0.3:

# %%
angles = 2 * np.pi * np.arange(64) / 64
for activation in ("almost-harmonic", "gaussian"):
    energy = ew.population_loss(ew.Teacher(corners, [1.0] * 4, activation))
    around = [
        energy.value(ew.Student([[0.3 * np.cos(angle), 0.3 * np.sin(angle)]], [1.0]))
        for angle in angles
    ]
    print(
        f"{activation:16} in the middle {energy.value(middle):.3f}, mean around it {np.mean(around):.3f}"
    )

# %% [markdown]
# Below the middle in the first line, above it in the second. The theorem also holds for all electrons at once: move
# them together, by the same vector, and the distances among them stay; what is left is the sum of their energies in the
# protons' field, and the argument applies to that. The certificate names the version that applies to the point at hand:

# %%
for theorem in at_the_middle("almost-harmonic").theorems:
    if theorem.applies:
        print(f"{theorem.sources}: {theorem.guarantees}")

# %% [markdown]
# "Not a local minimum", with a bound on the smallest eigenvalue: the Laplacian divided by the number of directions. The
# names in front are those of theorems in the papers ([which papers](../mathematics.md)).
#
# The bump is not always a trap either. In the plane its Laplacian is $(r^2 - 2)\,\Phi$: negative close by, positive
# beyond $r = \sqrt{2}$. A larger square should let go of its electron:

# %%
for size in (1.0, 1.2, 1.4, 1.5, 2.0):
    found = at_the_middle("gaussian", size)
    print(f"protons at distance {size}: {found.kind:14} Laplacian {found.laplacians[0]:+.3f}")

# %% [markdown]
# The sign changes just where the formula says. So the potential decides whether training can get stuck, and the
# potential is decided by the activation. No activation has an exactly harmonic potential, which is infinite where
# charges meet; `almost-harmonic` has a small {term}`core` around each charge and obeys the theorem outside it: there
# $\Delta\Phi = \lambda\Phi$, which is positive. [Design an activation](design_an_activation.py) goes on from here, and
# [Is this minimum bad?](is_this_minimum_bad.py) shows an everyday activation that does have traps.
#
# What the theorem does *not* say: that training is quick, that descent does not linger near a saddle, or that the
# weights, which stood still on this page, come out right.

# %% [markdown]
# ## Exercises
#
# **1.** Pull the middle electron 0.3 to the right before you let go, under both activations. Where does it end, and is
# `path.stop` the same? Guess from the picture of the two squares first.
#
# **2.** Put the electron *exactly* into the middle under `almost-harmonic`, and simulate. Then move it by $10^{-6}$.
# What do you conclude about `stop` being `equilibrium`?
#
# **3.** Make two of the four protons negative, `[1.0, -1.0, 1.0, -1.0]`, with the electron in the middle again. The
# theorem above asked for positive $b_j$. Work out the Laplacian on paper, then ask for the certificate.
#
# Then do it with the mouse: in the lab of the [first page](../index.md), or with `earnshaw lab` (after `pip install
# 'earnshaw[lab]'`).

# %% tags=["hide-cell"]
for activation in ("gaussian", "almost-harmonic"):
    square = ew.Teacher(corners, [1.0] * 4, activation)
    for start in (0.3, 0.0, 1e-6):
        path = ew.simulate(square, ew.Student([[start, 0.0]], [1.0]), time=100.0)
        end = np.round(path.positions[-1, 0], 3) + 0.0
        print(f"{activation:16} from {start}: ends at {end}, {path.stop}, t = {path.times[-1]:.2f}")

for activation in ("gaussian", "almost-harmonic"):
    mixed = ew.Teacher(corners, [1.0, -1.0, 1.0, -1.0], activation)
    found = ew.certify(ew.population_loss(mixed, wrt="positions"), middle)
    print(
        f"{activation:16} {found.kind}: {found.smallest_eigenvalue:+.3f}, {found.laplacians[0]:+.3f}"
    )

# %% [markdown]
# :::{dropdown} What to see
# **1.** Under `gaussian` the electron falls back into the middle and stops in `equilibrium`. Under `almost-harmonic` it
# goes to the proton on the right and is `bound`.
#
# **2.** In the exact middle the forces cancel to the last digit, and the flow stays: `equilibrium` says that nothing
# moves, not that the point is stable. After a push of $10^{-6}$ the electron leaves, late, and is bound. That is why
# there are certificates.
#
# **3.** Two positive and two negative protons at the same distance: their Laplacians cancel, and the sum of the two
# curvatures is 0 under *any* potential of the distance. Such a middle is a saddle or completely flat, and both
# certificates say saddle.
# :::
