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
# # Prove a minimum
#
# **The question.** A computer says that the gradient is $10^{-15}$ and the smallest eigenvalue 0.03. Numbers have
# rounding errors. Is there *really* a local minimum, in the sense of mathematics, and can somebody else check that
# without trusting us?
#
# Mostly nobody needs to know. But a counterexample to a conjecture must not hang on the last digits of a processor, and
# some eigenvalues are so small that floating point cannot tell which sign they have. This tutorial proves a minimum in
# three variables, then one in 64, sees a proof refused, and says what cannot be proved.

# %% [markdown]
# ## A candidate
#
# The teacher has two erf units at right angles. The student may have only one, so it cannot be the teacher. In the
# picture of [electrons and protons](electrons_and_protons.py) one electron feels two equal protons. Its charge may
# change as well. Where does it settle?

# %%
import dataclasses
import tempfile
from pathlib import Path

import numpy as np

import earnshaw as ew

teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
run = ew.learn(teacher, "newton", units=1, seed=0)
print("position", run.student.positions[0], "weight", run.student.weights[0])
print(f"loss {run.loss:.6f}, gradient {run.certificate.gradient_norm:.0e}")

# %% [markdown]
# Halfway between the two, as one would guess, with a weight that makes up for it. (erf is odd, so a unit and its weight
# may both be negative.) The certificate says `minimum`; it was computed in floating point.
#
# This example is small enough for paper, which will be a test of everything below. The potential of erf is known in
# closed form,
#
# $$\Phi(\theta, w) = \frac{2}{\pi}\arcsin\frac{2\,\theta\cdot w}{\sqrt{(1 + 2|\theta|^2)(1 + 2|w|^2)}}.$$
#
# Put a unit of length 1/2 halfway. Both its potential with itself and that with either teacher unit come out as
# $(2/\pi)\arcsin(1/3)$. The best weight is the field of both teacher units, divided by the first: exactly 2. The loss
# that this leaves is
#
# $$L = \frac{4}{\pi}\left(\arcsin\frac{2}{3} - 2\arcsin\frac{1}{3}\right).$$

# %%
import mpmath

with mpmath.workdps(25):
    by_hand = 4 / mpmath.pi * (mpmath.asin(mpmath.mpf(2) / 3) - 2 * mpmath.asin(mpmath.mpf(1) / 3))
    print("length", np.linalg.norm(run.student.positions), "and on paper the loss is", by_hand)

# %% [markdown]
# ## Numbers with a radius
#
# A **ball** is a number with a radius: an interval that surely holds the true value. Arithmetic with balls rounds
# outwards, so whatever comes out holds the true result too. The library uses Arb, through python-flint:

# %%
from flint import arb

third = arb(1) / 3
print("1/3 is in", third)
print("and 1/3 - 1/3 in", third - third)

# %% [markdown]
# The second line shows both sides of it. The ball holds 0, the true result; but it is not just 0, since the arithmetic
# does not know that the two numbers are the same one. Balls never lie, and they may say less than is true. Long
# computations, and large boxes above all, make them useless. So the art is to need only short computations on small
# boxes.
#
# ## A root that surely exists
#
# How can finitely many computations prove that an equation has an exact solution? By a fixed point. Take $g(x) = x^2 -
# 2$, and a box $B$ around a middle $x_0$. A Newton step with a fixed slope is $x \mapsto x - Y g(x)$, with $Y$ about
# $1/g'(x_0)$. If it maps the box into itself it has a fixed point there, and a fixed point is a root of $g$. To see
# where it maps the *whole* box, use the mean-value theorem: $g(x) - g(x_0)$ is a slope that occurs in the box times
# $(x - x_0)$. So the image of the box lies in
#
# $$x_0 - Y g(x_0) + (1 - Y g'(B))\,(B - x_0),$$
#
# which balls can compute, $g'(B) = 2B$ being the ball of all slopes in the box. This is Krawczyk's test. If the image
# lies in the *inside* of the box, there is one root and no second one:


# %%
def krawczyk(middle, radius):
    box = arb(middle, radius)
    inverse = 1 / (2 * middle)
    image = middle - inverse * (arb(middle) ** 2 - 2) + (1 - inverse * 2 * box) * (box - middle)
    return image, box.contains_interior(image)


for middle, radius in ((1.4, 0.1), (1.6, 0.1), (1.4, 1.5)):
    image, inside = krawczyk(middle, radius)
    print(f"box {middle} +- {radius}: image {image}, a root is proved: {inside}")

# %% [markdown]
# The first box maps into its own inside, so there is a square root of 2 in it, and only one. The second is beside the
# root: its image moves out. The third is so large that it holds places where the slope is 0, and the test fails
# although the root is in it. A failed test proves nothing, neither that there is a root nor that there is none. (Unless
# the image lies outside altogether, as that of the second box: no fixed point can be there.)
#
# ## The proof
#
# The library does the same with the gradient of the loss in place of $g$, the Hessian in place of $g'$, and all
# coordinates at once:
#
# 1. *There is exactly one critical point in this box*, by Krawczyk's test.
# 2. *It is a minimum.* The Hessian over the whole box, in balls, is positive definite: all pivots of an elimination are
#    positive. One can do that at once for all points of the box, and so it does not matter where in the box the critical point is.
# 3. *The loss there* is in a ball, which may or may not contain 0.

# %%
proof = ew.prove(teacher, run.student)
proof

# %% [markdown]
# Read it as a theorem: *within $5\cdot10^{-17}$ of the stated numbers, in each of three coordinates, the loss has
# exactly one critical point; it is a strict local minimum; the loss there is between the two numbers given.* In
# particular it is not 0:

# %%
low, high = proof.loss
print(f"the loss is at least {low:.17g} and at most {high:.17g}")
print("away from 0:", proof.away_from_zero)
print("what we had on paper is between:", low <= by_hand <= high)

# %% [markdown]
# So this is a *bad* place to be for good: descent that comes close never gets to 0. (With one unit it could not anyway.
# The same holds in the example of 64 variables below, where it could.)
#
# The candidate need not be good. The proof is about a critical point near the student, found by Newton's method in many
# digits, and says how far it went:

# %%
for off in (1e-3, 1e-2, 1e-1):
    rough = ew.Student(run.student.positions + off, run.student.weights - off)
    print(f"off by {off}: {ew.prove(teacher, rough).kind}: {ew.prove(teacher, rough).reason}")

# %% [markdown]
# Up to a hundredth it finds its way. Beyond, it refuses to prove something about a point that is not the one that was
# asked about.
#
# ## Somebody else checks it
#
# A proof is a small text file: the teacher, the middle of the box, its radius, the bounds. Checking searches for
# nothing: it takes the box, the radius and the bounds from the file and tests each again. One has to trust ball
# arithmetic and the few lines that test, but neither the descent that found the point, nor Newton's method, nor us.

# %%
folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "proof.json"
ew.save_proof(file, proof)
print(f"{len(file.read_text())} characters; checked again: {ew.check_proof(file).kind}")

# %% [markdown]
# What if someone lies? Write a file, digest and all, which claims that the smallest eigenvalue is above 1:

# %%
lie = dataclasses.replace(proof, smallest_eigenvalue=1.0)
ew.save_proof(file, lie)
try:
    ew.check_proof(file)
except ew.EarnshawError as error:
    print("refused:", str(error).replace(str(file), file.name))

# %% [markdown]
# The digest would have caught a digit that was changed by accident. It does not help against a liar, who computes a new
# one; what refuses the lie is the test itself, which fails. A file of this kind is evidence, not authority.
#
# ## A bad minimum, proved
#
# Now the point that [the second tutorial](is_this_minimum_bad.py) found: eight relu units that could be the teacher,
# and are not. Only the positions move, 64 variables:

# %%
orthonormal = ew.random_teacher(
    "relu", dim=8, units=8, positions="orthonormal", weights="ones", seed=0
)
bad = ew.hunt(orthonormal, starts=100, fixed_charges=True).found[-1].student
trap = ew.prove(orthonormal, bad, wrt="positions")
trap

# %% [markdown]
# The same theorem with other numbers: one critical point in the box, all eigenvalues above the bound, the loss in an
# interval away from 0. So relu networks *have* bad local minima, and no gradient descent with small steps that comes
# near enough to this one leaves it. That is a statement about a network, and not about a computer. What saves the proof
# from the number of variables is that the box is so small: its radius is about that of a rounding error, and over such
# a box the Hessian hardly varies.
#
# A saddle has a proof too: one direction along which the curvature is negative over the whole box. The top of the path
# that led out of the bad minimum is one:

# %%
loss = ew.population_loss(orthonormal, wrt="positions")
way = ew.barrier(loss, bad, orthonormal.student())
ew.prove(orthonormal, way.saddle, wrt="positions")

# %% [markdown]
# ## What cannot be proved
#
# Give the student a second unit, a copy of the first with half of the weight each. As a function nothing changes, and
# the gradient is still 0. Is it still a minimum?

# %%
copies = ew.Student(
    np.repeat(run.student.positions, 2, axis=0), np.repeat(run.student.weights, 2) / 2
)
found = ew.certify(teacher, copies)
print(found.kind, "-", found.reason)

# %% [markdown]
# It is a saddle: the copies can turn towards one teacher unit each. But there is no *isolated* critical point here to
# put into a box, since weight can be moved from one copy to the other without any change:

# %%
print(ew.prove(teacher, copies).reason)

# %% [markdown]
# `inconclusive` is an answer. A proof system that never says it is one that guesses. It is the usual answer where a
# symmetry leaves something free (relu with weights that may move: a unit can be stretched while its weight shrinks),
# where an eigenvalue is 0, and for activations that have no ball arithmetic here yet; [the
# list](../landscape.md#proofs). A certificate says what floating point saw, and nearly always says something; a proof
# says what is surely so, or nothing. The last exercise has a case in which the proof says more.
#
# From a shell: `earnshaw certify --teacher T.json --student S.json --proof proof.json`, then
# `earnshaw certify --check proof.json`. How the test treats {term}`cusps <cusp>`, where there is no Hessian, is in
# [the concept](../concepts/rigorous_proofs.md).

# %%
folder.cleanup()

# %% [markdown]
# ## Exercises
#
# **1.** Turn the second teacher unit until it is at 60 degrees to the first, `[0.5, 3**0.5 / 2]`. Does the one-unit
# student still sit halfway? Prove it. Is the loss larger or smaller than at right angles, and why?
#
# **2.** Take the weights `[1.0, -1.0]` instead, at right angles. What does `ew.learn` find now, and what can be proved?
# Think of the charges: one attracts, one repels.
#
# **3.** With the weights `[1.0, -1.0]` turn the second unit towards the first: 40, 20, 10, 5, 2 degrees. Compare the
# certificate and the proof at each. Which of the two gives up first?

# %% tags=["hide-cell"]
for weights, degrees in (
    ([1.0, 1.0], (90, 60)),
    ([1.0, -1.0], (90, 40, 20, 10, 5, 2)),
):
    for degree in degrees:
        angle = np.deg2rad(degree)
        pair = ew.Teacher([[1.0, 0.0], [np.cos(angle), np.sin(angle)]], weights, "erf")
        run = ew.learn(pair, "newton", units=1, seed=0)
        place = np.rad2deg(
            np.arctan2(*np.sign(run.student.weights[0]) * run.student.positions[0, ::-1])
        )
        proof = ew.prove(pair, run.student)
        print(
            f"{weights} at {degree}: unit at {place:.1f}, loss {run.loss:.5f}, "
            f"certificate {run.certificate.kind}, proof {proof.kind}"
        )

# %% [markdown]
# :::{dropdown} What to see
# **1.** Halfway, at 30 degrees, and proved. The loss is smaller, since the two teacher units agree more, and one unit
# can stand for both.
#
# **2.** A unit halfway between the first and the *opposite* of the second. erf is odd, so $-1$ times a unit is a unit
# on the other side: the example is the old one, turned by a right angle, with the same loss.
#
# **3.** What the teacher says becomes small, and so does the unit. erf is nearly linear near 0, and of a linear unit
# only the product of weight and length counts: changing one against the other hardly changes the loss. So the smallest
# eigenvalue falls quickly with the angle. The certificate gives up first (`degenerate`): its tolerance has to allow for
# rounding. The proof works with more digits and goes on for a while. At the last angle the descent itself has not
# arrived, and there is no candidate close enough to prove anything about.
# :::
