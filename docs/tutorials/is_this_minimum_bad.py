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
# # Is this minimum bad?
#
# **The question.** Training stopped. The loss is small but not 0, the gradient is 0 to many digits. Is this as good as it
# gets, a saddle that more patience would leave, or a true local minimum that is worse than the best: a *bad* one?
#
# For a network with one hidden layer and Gaussian inputs this can be answered, because loss, gradient and Hessian are
# known exactly, without samples.

# %% [markdown]
# ## Go down from many places
#
# The teacher is as simple as can be: eight relu units in $\mathbb R^8$, orthonormal, all with output weight 1. The
# student has eight relu units too, so it could be the teacher. We fix its output weights at 1 and let only positions
# move, which is the setting in which bad minima were first found for relu.
# `hunt` draws random starts, follows gradient descent from each to a critical point, and sorts the ends into classes.

# %%
import numpy as np

import earnshaw as ew
from earnshaw.plots import draw_barrier

teacher = ew.random_teacher("relu", dim=8, units=8, positions="orthonormal", weights="ones", seed=0)
landscape = ew.hunt(teacher, starts=100, fixed_charges=True)
for point in landscape.found:
    low, high = point.interval
    print(
        f"{point.kind}: relative loss {point.relative_loss:.2g}, from {point.count} of {landscape.starts} starts "
        f"({low:.0%} to {high:.0%} with 95 % confidence)"
    )

# %% [markdown]
# Two classes of ends, up to the order of units and the symmetries of the teacher. The first has loss 0 to rounding: the
# teacher was found. The second has 0.3 % of the loss of the empty student, one without units, left. The interval says how often a new
# random start would end there; it is that of a binomial proportion.

# %%
landscape.plot()

# %% [markdown]
# ## What kind of point is it?
#
# A gradient of 0 is also what a saddle has. Only second derivatives tell them apart, so ask for a certificate.

# %%
bad = landscape.found[-1].student
loss = ew.population_loss(teacher, wrt="positions")
found = ew.certify(loss, bad)
found

# %% [markdown]
# All 64 eigenvalues of the Hessian are positive: the loss rises in every direction. The smallest is small compared with the
# largest, so descent took its time, but it is not 0. The library would not have said `minimum` if an eigenvalue had been 0 to within
# its tolerance: such points are
# reported as `valley`, `plateau` or `degenerate` ([what they are](../concepts/cusps_and_certificates.md)).

# %%
spectrum = ew.spectrum(loss, bad)
values, counts = np.unique(np.round(spectrum.values, 4), return_counts=True)
for value, count in zip(values, counts, strict=True):
    print(f"{value:8.4f}  {count} times")

# %% [markdown]
# Eigenvalues come in groups, which is a mark of symmetry: seven of the student's units have found their teacher units, nearly, and
# can be exchanged for each other. What happened to the eighth?

# %%
cosines = np.asarray(bad.positions) @ np.asarray(teacher.positions).T
lengths = np.linalg.norm(bad.positions, axis=1)
order = np.argsort(-np.max(cosines, axis=1) / lengths)
for unit in order:
    nearest = np.argmax(cosines[unit])
    print(
        f"student unit {unit}: length {lengths[unit]:.3f}, "
        f"cosine {cosines[unit, nearest] / lengths[unit]:+.3f} with teacher unit {nearest}"
    )

missing = int((set(range(8)) - {int(np.argmax(cosines[unit])) for unit in order[:-1]}).pop())
last = int(order[-1])
print(
    f"teacher unit {missing} is nobody's; cosine with student unit {last}: "
    f"{cosines[last, missing] / lengths[last]:+.3f}"
)

# %% [markdown]
# Seven student units stand for one teacher unit each. The eighth is short, and points mostly *away* from the
# teacher unit that nobody found; it leans a little towards all the others.

# %% [markdown]
# ## How deep is the hole?
#
# A bad minimum with a low rim is harmless: a little noise carries the student over it. `barrier` looks for the lowest way
# from the bad minimum to the teacher. It starts from the straight line and lets it sag.

# %%
way = ew.barrier(loss, bad, teacher.student())
print(f"loss at the bad minimum     {way.losses[0]:.4f}")
print(f"highest on the straight line {way.line_top:.4f}")
print(
    f"highest on the lower path    {way.top:.4f}, at a saddle with gradient {way.saddle_gradient:.0e}"
)

# %%
draw_barrier(way)

# %% [markdown]
# The rim is 3 % higher than the bottom, where the straight line would have said 95 %. The hole is real and shallow.

# %% [markdown]
# ## One more unit
#
# Does a larger student get stuck as well? Split the last unit into two of half its length. As a function nothing
# changes; as a point in a larger space it may now be a saddle.

# %%
positions = np.concatenate([bad.positions, bad.positions[last : last + 1]])
positions[[last, -1]] /= 2
larger = ew.Student(positions, np.ones(9))
found = ew.certify(loss, larger)
print(f"{found.kind}: {found.reason}")

# %% [markdown]
# The minimum of eight units is a saddle of nine: the two halves can move apart and lower the loss.
#
# ## Exercise
#
# Hunt again with `units=9` in `ew.hunt`. How many of 100 starts end in a bad minimum now? (`ew.hunt(teacher, units=9,
# starts=100, fixed_charges=True)`, or from a shell `earnshaw landscape --activation relu --teacher orthonormal --dim 8
# --units 8 --student-units 9 --fixed-charges --starts 100`.) It takes a minute or two, since a student with a unit to spare
# comes down ever more slowly: those still falling are counted as `approaching 0`, and `undecided` ended nowhere in time.
