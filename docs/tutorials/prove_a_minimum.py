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
# **The question.** A computer says that the gradient is $10^{-13}$ and the smallest eigenvalue 0.03. Numbers have rounding errors. Is
# there *really* a local minimum, in the sense of mathematics, and can somebody else check that without trusting us?

# %% [markdown]
# ## A candidate
#
# The teacher has two erf units at right angles. The student may have only one, so it cannot be the teacher. Where does it settle?

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
# Halfway between the two, as one would guess, with a weight that makes up for it. (erf is odd, so a unit and its weight may both be
# negative.) The certificate says `minimum`; it was computed in floating point.

# %% [markdown]
# ## The proof
#
# A **ball** is a number with a radius: an interval that surely holds the true value. Arithmetic with balls rounds outwards, so
# whatever comes out holds the true result too. With it one can prove things:
#
# 1. *There is exactly one critical point in this box.* Krawczyk's test: if a Newton step, carried out on a whole box in balls, maps the box
#    into its own inside, then by a fixed-point theorem there is exactly one zero of the gradient in it.
# 2. *It is a minimum.* The Hessian over the whole box, in balls, is positive definite if all pivots of an elimination are
#    positive.

# %%
proof = ew.prove(teacher, run.student)
proof

# %% [markdown]
# Read it as a theorem: *within $5\cdot10^{-17}$ of the stated numbers, in each of three coordinates, the loss has exactly one critical
# point; it is a strict local minimum; the loss there is between the two numbers given.* In particular it is not 0:

# %%
low, high = proof.loss
print(f"the loss is at least {low:.17g} and at most {high:.17g}")
print("away from 0:", proof.away_from_zero)

# %% [markdown]
# ## Somebody else checks it
#
# A proof is a small text file. Checking searches for nothing: it takes the box, the radius and the bounds from the file and tests
# each again.

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
# ## What cannot be proved
#
# Give the student a second unit, a copy of the first with half of the weight each. As a function nothing changes, and the gradient
# is still 0. Is it still a minimum?

# %%
copies = ew.Student(
    np.repeat(run.student.positions, 2, axis=0), np.repeat(run.student.weights, 2) / 2
)
found = ew.certify(teacher, copies)
print(found.kind, "-", found.reason)

# %% [markdown]
# It is a saddle: the copies can turn towards one teacher unit each. But there is no *isolated* critical point here to put into a box,
# since weight can be moved from one copy to the other without any change:

# %%
print(ew.prove(teacher, copies).reason)

# %% [markdown]
# `inconclusive` is an answer. A proof system that never says it is one that guesses.
#
# ## A bad minimum, proved
#
# The same commands prove the bad minimum of [the second tutorial](is_this_minimum_bad.py), in 64 variables; see
# [proofs](../landscape.md#proofs). From a shell: `earnshaw certify --teacher T.json --student S.json --proof proof.json`, then
# `earnshaw certify --check proof.json`.

# %%
folder.cleanup()

# %% [markdown]
# ## Exercise
#
# Turn the second teacher unit until it is at 60 degrees to the first, `[0.5, 3**0.5 / 2]`. Does the one-unit student still sit halfway?
# Prove it. Then take the weights `[1.0, -1.0]`: what does `ew.learn` find now, and what can be proved?
