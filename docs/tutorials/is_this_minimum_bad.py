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
# known exactly, without samples. [Electrons and protons](electrons_and_protons.py) says why. This tutorial catches a bad
# minimum of the most common activation, finds out how it works, measures how deep it is, and gets out of it.
#
# Three words first. A **critical point** is a place where the gradient is 0. It is a **local minimum** if no place
# nearby has a smaller loss, and a **saddle** if some direction leads down. Descent leaves saddles, if slowly. It does
# not leave minima.

# %% [markdown]
# ## Go down from many places
#
# The teacher is as simple as can be: eight relu units in $\mathbb R^8$, orthonormal, all with output weight 1. The
# student has eight relu units too, so it could be the teacher. We fix its output weights at 1 and let only positions
# move, which is the setting in which bad minima were first found for relu. A teacher like this is not contrived to be
# hard. Its units do not even overlap, and a person who saw the eight directions would say that there is nothing to
# confuse.
#
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
# teacher was found. The second has 0.3 % of the loss of the empty student, one without units, left.
#
# Two runs that end in the same class need not have the same numbers: if student units swap their numbers, or all of
# space is turned such that the teacher's units change places, the loss does not notice. `hunt` undoes such changes
# before it compares. The interval says how often a new random start would end there; it is that of a binomial
# proportion. A hundred starts do not tell 5 % from 15 %, and a class that no start found may still exist.

# %%
landscape.plot()

# %% [markdown]
# A person who trains once, and sees a loss of 0.3 % of what it was, would be content, and would not know that a loss of
# 0 was to be had. Nothing in the training curve gives it away: both classes end with a gradient of 0 to many digits.
#
# ## From which size on?
#
# Are eight units special? Ask the same question of smaller teachers:

# %%
smaller = {}
for size in (6, 7):
    orthonormal = ew.random_teacher(
        "relu", dim=size, units=size, positions="orthonormal", weights="ones", seed=0
    )
    smaller[size] = ew.hunt(orthonormal, starts=100, fixed_charges=True)
    ends = ", ".join(f"{point.count} at {point.relative_loss:.2g}" for point in smaller[size].found)
    print(f"{size} units: {ends} (starts at each relative loss)")

# %% [markdown]
# Six units: no trap in a hundred starts. Seven: a few. It is not a rule that larger networks of the right size are
# easier. In the picture of charges there is more room for a unit to be in the wrong place, and more other units to make
# up for it. How they do that is the subject of the section after next.

# %% [markdown]
# ## What kind of point is it?
#
# A gradient of 0 is also what a saddle has. Only second derivatives tell them apart. Near a critical point $p$ a small
# step $v$ changes the loss by $\tfrac{1}{2}\, v\cdot H v$, with $H$ the Hessian, the matrix of second derivatives;
# terms of third order are smaller. Written in the eigenvectors of $H$ this is a sum of squares, each times half an
# eigenvalue. All eigenvalues positive: up in every direction. One negative: down along its eigenvector. So ask for a
# certificate, which computes them.

# %%
bad = landscape.found[-1].student
loss = ew.population_loss(teacher, wrt="positions")
found = ew.certify(loss, bad)
found

# %% [markdown]
# The title has the verdict, `minimum`, and the number that decided, the smallest eigenvalue. "Theorems none" says that
# no theorem known to the library speaks of this loss; what is known of the point was computed. All 64 eigenvalues of
# the Hessian are positive: the loss rises in every direction. The smallest is small compared with the largest, so
# descent took its time, but it is not 0. The library would not have said `minimum` if an eigenvalue had been 0 to
# within its tolerance: such points are reported as `valley`, `plateau` or `degenerate` ([what they
# are](../concepts/cusps_and_certificates.md)).
#
# Is it our own doing, since we forbade the output weights to move? Allow it, and ask again. More directions are more
# ways out:

# %%
free = ew.certify(teacher, bad)
print(f"weights free as well: {free.kind}, smallest eigenvalue {free.smallest_eigenvalue:.4f}")

# %% [markdown]
# Still a minimum. (A relu unit can be stretched while its weight shrinks, and the function stays. Such directions are
# level for a reason, and the certificate leaves them out.) Now all eigenvalues:

# %%
spectrum = ew.spectrum(loss, bad)
values, counts = np.unique(np.round(spectrum.values, 4), return_counts=True)
for value, count in zip(values, counts, strict=True):
    print(f"{value:8.4f}  {count} times")

# %% [markdown]
# Eigenvalues come in groups, which is a mark of symmetry: seven of the student's units have found their teacher units,
# nearly, and can be exchanged for each other. Exchanging seven things splits any space on which it acts into blocks
# that it cannot split further. The smallest kinds of blocks have the sizes 1, 6, 14 and 15 (6, for example: seven
# numbers whose sum is 0), and throughout a block the curvature must be the same. The counts in the table are these
# sizes. A spectrum without such groups would have told us that the point is less symmetric than it looks, or badly
# computed.
#
# ## How the trap works
#
# What happened to the eighth unit?

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
# Seven student units stand for one teacher unit each. The eighth is short, and points mostly *away* from the teacher
# unit that nobody found. How can a unit that points away be of use? Look along that one direction, call the input's
# coordinate there $y$, and recall that
#
# $$\mathrm{relu}(y) = \frac{y}{2} + \frac{|y|}{2}, \qquad \mathrm{relu}(-y) = -\frac{y}{2} + \frac{|y|}{2}.$$
#
# The two differ by a straight line only. A unit that points the wrong way has the right bend and the wrong slope, and a
# slope can be mended by others: a unit that leans towards $y$ a little adds a little slope and hardly any bend. Sum the
# coordinates of all student units along each teacher unit. Half of that sum is the slope of the student as a whole, in
# the sense of a least-squares line:

# %%
for unit in order:
    print(f"student unit {unit}: {cosines[unit, missing]:+.3f} along teacher unit {missing}")
sums = cosines.sum(axis=0)
print(f"sum along teacher unit {missing}: {sums[missing]:.3f}")
print(
    f"sums along the others: {np.delete(sums, missing).min():.3f} to {np.delete(sums, missing).max():.3f}"
)

# %% [markdown]
# That is the trap. Seven units lean towards the missing one by the same amount, and together they overcome the slope of
# the eighth: the sum is close to 1, which is what the teacher has. To get out the eighth unit would have to turn round,
# and half-way, at a right angle, it has no bend along $y$ at all; meanwhile the lean of the seven would have to be
# undone. The straight way is uphill.
#
# It also suggests why fewer units had no such trap: the lean costs each unit something, and with fewer units each has
# to lean more.

# %% [markdown]
# ## How deep is the hole?
#
# How high is the rim? Think of the landscape as filled with water up to some level. At which level does the lake around
# the bad minimum first touch the one around the teacher? `barrier` looks for the lowest way between the two. It starts
# from the straight line, a chain of students between the ends, and lets it sag like a rope laid over a hill. At its top
# a good path has a saddle, which is then found to all digits by Newton's method.

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
# Along the straight line the loss nearly doubles; the lower path climbs by about 3 %. The hole is real and shallow. The
# path shows that the rim is not higher than its top. It does not show that there is no lower one.
#
# One would think that a little noise carries a student over so low a rim. Try it. Push the student by a random vector
# of length 1, more than twice the distance of the saddle, and let it flow; then put it on the path, two steps past the
# top:

# %%
top = int(np.argmax(way.losses))
away = np.linalg.norm(np.asarray(way.saddle.positions) - np.asarray(bad.positions))
print(f"the saddle is {away:.2f} away from the bad minimum")

rng = np.random.default_rng(0)
for attempt in range(3):
    push = rng.normal(size=bad.positions.shape)
    pushed = ew.Student(bad.positions + push / np.linalg.norm(push), np.ones(8))
    path = ew.simulate(teacher, pushed, time=300.0)
    print(f"random push {attempt}: loss {path.energy[0]:.3f} -> {path.energy[-1]:.4f}")

past = ew.Student(way.positions[top + 2], np.ones(8))
path = ew.simulate(teacher, past, time=300.0)
print(f"past the saddle: loss {path.energy[0]:.3f} -> {path.energy[-1]:.1e}")

# %% [markdown]
# The random pushes carry the student higher than the rim, and it comes back. (The last loss is 0 to rounding, on the
# wrong side of it.) A hole in 64 dimensions has a low rim in one direction and high walls in nearly all others, and a
# random direction is nearly always one of the others. Height alone does not say how long noise needs to get out; the
# width of the gate counts as well.

# %% [markdown]
# ## One more unit
#
# Does a larger student get stuck as well? Split the last unit into two of half its length. As a function nothing
# changes, since $\mathrm{relu}(z/2) + \mathrm{relu}(z/2) = \mathrm{relu}(z)$; as a point in a larger space it may now
# be a saddle.

# %%
positions = np.concatenate([bad.positions, bad.positions[last : last + 1]])
positions[[last, -1]] /= 2
larger = ew.Student(positions, np.ones(9))
found = ew.certify(loss, larger)
print(f"{found.kind}: {found.reason}")

# %% [markdown]
# The certificate has the direction, `found.direction`. Which units does it move?

# %%
moved = np.asarray(found.direction.positions)
print("how far each unit moves:", np.round(np.linalg.norm(moved, axis=1), 2) + 0.0)
print(f"the two halves move oppositely: {np.allclose(moved[last], -moved[-1])}")

# %% [markdown]
# The minimum of eight units is a saddle of nine: the two halves can move apart and lower the loss, at first without any
# other unit's help. That is one reason why networks with units to spare are easier to train. It is not a proof that
# they have no bad minima; see [landscapes](../landscape.md) for what is known, and [Prove a
# minimum](prove_a_minimum.py) for how this one is put beyond doubt.
#
# ## Exercises
#
# **1.** Split one of the seven good units instead of the last, each half of half its length. Minimum or saddle? The
# function is still that of the bad minimum.
#
# **2.** Take the bad minimum of seven units, in `smaller[7].found[-1].student`. Is it the same trap? Count the units
# that lean, and by how much; compare with eight.
#
# **3.** Hunt again with `units=9` in `ew.hunt`. How many of 100 starts end in a bad minimum now? (`ew.hunt(teacher,
# units=9, starts=100, fixed_charges=True)`, or from a shell `earnshaw landscape --activation relu --teacher orthonormal
# --dim 8 --units 8 --student-units 9 --fixed-charges --starts 100`.) It takes a minute or two, since a student with a
# unit to spare comes down ever more slowly: those still falling are counted as `approaching 0`, and `undecided` ended
# nowhere in time.

# %% tags=["hide-cell"]
good = int(order[0])
halves = np.concatenate([bad.positions, bad.positions[good : good + 1]])
halves[[good, -1]] /= 2
print("a good unit split:", ew.certify(loss, ew.Student(halves, np.ones(9))).reason)

seven = smaller[7]
other = np.asarray(seven.found[-1].student.positions) @ np.asarray(seven.teacher.positions).T
lost = int(np.argmin(other.min(axis=0)))
print("seven units:", np.sort(np.round(other[:, lost], 3)), f"sum {other[:, lost].sum():.3f}")
print(
    "eight units:",
    np.sort(np.round(cosines[:, missing], 3)),
    f"sum {cosines[:, missing].sum():.3f}",
)

# %% [markdown]
# :::{dropdown} What to see
# **1.** A saddle too. A unit that leans is a compromise between two teacher units, and two halves can do better than one.
#
# **2.** The same trap with one unit less to lean: each leans more, and the sum is about the same.
#
# **3.** No start ends in a bad minimum. Nearly all are still on their way to 0 when the iterations are over, so
# `landscape.found` is empty, which can be mistaken for a failure: see `landscape.approaching`. (The command says that no
# critical point was reached, how many starts are undecided and how many are approaching 0, with the largest
# relative loss among them.) It is the price of the spare unit: the landscape is flat around the answer, since many
# students with nine units are equal to the teacher.
# :::
