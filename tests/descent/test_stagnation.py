"""When node-wise learning gives up: by the losses after each unit alone."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.descent.node_wise import NodeWise
from earnshaw.descent.nodes import begin_nodes, usual_starts

SLOW = 1e-7 / np.arange(1, 12)  # units that are the teacher's leave rounding, not 1/n
FAST = 1e-7 * 10.0 ** -np.arange(11)


@pytest.mark.parametrize(
    ("after", "smooth", "gives_up"),
    [
        (SLOW, True, True),
        (SLOW, False, False),  # at cusps units are not refined: each has its own share
        (FAST, True, False),
        (1e3 * SLOW, True, False),  # more than a millionth is left: units may be many
        (np.full(80, 0.5), True, True),
        (np.full(80, 0.5), False, True),
        (0.99 ** np.arange(80), True, False),
    ],
)
def test_units_that_take_too_little_away_end_the_run(after, smooth, gives_up):
    loss = ew.population_loss(ew.random_teacher("gaussian", 2, 2, seed=0))
    nodes = begin_nodes(loss, 4096, 0)
    nodes = eqx.tree_at(
        lambda n: (n.losses, n.placed),
        nodes,
        (jnp.append(1.0, jnp.asarray(after)), jnp.asarray(len(after))),
    )
    method = NodeWise(usual_starts(loss.manifold, 2, False), 4096, smooth=smooth)
    assert method._stagnant(nodes) is gives_up


@pytest.mark.slow
def test_a_run_in_a_bad_minimum_ends_and_says_so():
    """Such runs went on without end before, each unit for a few percent of what was left."""
    run = ew.learn(ew.random_teacher("erf", 2, 7, seed=4), seed=4)
    assert (run.stop, run.result) == (ew.Stop.STAGNANT, "incomplete")
    assert run.student.units < 20
    assert f"a loss of {run.loss:.2e} is left" in run.notes[-1]
