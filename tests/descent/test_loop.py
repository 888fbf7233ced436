"""The one loop: pieces, interruptions, histories and batches change nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from descent.toys import Toy, Traces, batch, descend, point, saddle, seed
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.lockstep_descent import LockstepDescent
from earnshaw.descent.loop import advance, begin, run, stop_codes
from earnshaw.descent.method import RUNNING, Stop, stop_of
from earnshaw.descent.noisy_sgd import NoisySGD
from earnshaw.descent.perturbed_gd import PerturbedGD
from earnshaw.descent.second_gd import SecondGD
from earnshaw.descent.steps import Steps

TRACES = Traces()
TOY = Toy((), saddle, traces=TRACES)
STARTS = batch(point(0.3, 1.0), point(-2.0, 0.5), point(0.0, 0.0))
NOISY = NoisySGD(step_size=1e-2, tolerance=1e-12)  # never gets there: it runs to the limit
METHODS = {
    "gd": GradientDescent(Steps(1e-2)),
    "lockstep": LockstepDescent(),
    "second-gd": SecondGD(),
    "perturbed-gd": PerturbedGD(pause=10),
    "noisy-sgd": NOISY,
}


def _same_bits(first, second):
    pairs = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_pieces_do_not_matter(name):
    method = METHODS[name]
    start = begin(method, TOY, STARTS, seed())
    whole = advance(method, TOY, start, jnp.asarray(50))
    traced = TRACES.count
    piece = start
    for until in (1, 7, 7, 32, 50):
        piece = advance(method, TOY, piece, jnp.asarray(until))
    assert _same_bits(whole, piece)
    assert _same_bits(whole, descend(method, TOY, STARTS, 50))
    assert TRACES.count == traced  # the first piece has compiled the others


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_was():
    begun = begin(NOISY, TOY, STARTS, seed(3))
    reports, stored = [], []

    def interrupt(progress):
        reports.append(progress)
        if len(reports) == 3:
            raise KeyboardInterrupt

    part, interrupted = run(
        NOISY, TOY, begun, 700, report=interrupt, checkpoint=lambda loop: stored.append(loop)
    )
    assert interrupted
    assert 0 < int(part.iteration) < 700
    assert len(reports) == 3
    assert all(report.total == 700 for report in reports)
    assert _same_bits(stored[-1], part)
    assert {stop_of(int(code)) for code in stop_codes(NOISY, part, interrupted)} == {
        Stop.INTERRUPTED
    }
    resumed, interrupted = run(NOISY, TOY, part, 700)
    assert not interrupted
    assert _same_bits(resumed, run(NOISY, TOY, begun, 700)[0])


@pytest.mark.slow
def test_a_history_that_overflows_covers_the_run_evenly():
    loop = descend(NOISY, TOY, STARTS, 700)
    history = loop.history
    assert int(loop.iteration) == 700
    assert (history.room, int(history.every), int(history.count)) == (256, 4, 176)
    at = np.asarray(history.iterations())[: int(history.count)]
    assert np.array_equal(at, np.arange(0, 701, 4))
    begun = begin(NOISY, TOY, STARTS, seed())
    for index in (0, 1, 63, 100, 175):
        then = advance(NOISY, TOY, begun, jnp.asarray(at[index])).states
        assert np.array_equal(history.positions[index], then.student.positions)
        assert np.array_equal(history.weights[index], then.student.weights)
        assert np.array_equal(history.values[index], then.value)
    np.testing.assert_allclose(
        history.gradient_norms[175], jax.vmap(lambda state: state.gradient_norm)(loop.states)
    )


@pytest.mark.quick("lockstep")
@pytest.mark.parametrize("name", ["gd", "lockstep", "second-gd"])
def test_a_batch_is_its_starts_one_by_one(name):
    method = METHODS[name]
    together = descend(method, TOY, STARTS, 60)
    for index in range(3):
        start = jax.tree.map(lambda part, index=index: part[index : index + 1], STARTS)
        alone = descend(method, TOY, start, 60)
        assert int(alone.states.stop[0]) == int(together.states.stop[index])
        assert int(alone.used[0]) == int(together.used[index])
        np.testing.assert_allclose(
            alone.states.student.positions[0],
            together.states.student.positions[index],
            rtol=1e-12,
            atol=1e-14,
        )


@pytest.mark.slow
def test_compiled_once_for_all_pieces_starts_seeds_and_parameters():
    for method in METHODS.values():
        descend(method, TOY, STARTS, 20)
    counted = TRACES.count
    assert counted > 0
    others = batch(point(1.0, 1.0), point(2.0, 3.0), point(-1.0, 0.1))
    descend(NOISY, TOY, STARTS, 33, key=1)
    descend(NOISY, TOY, others, 600, key=2)
    descend(NoisySGD(step_size=0.3, tolerance=0.2), TOY, others, 5)
    descend(GradientDescent(Steps(0.5), tolerance=1e-3), TOY, others, 45)
    descend(SecondGD(eta=1e-3, gamma=1e-3), TOY, others, 45)
    descend(LockstepDescent(tolerance=1e-3), TOY, others, 45)
    assert TRACES.count == counted


@pytest.mark.slow
def test_starts_that_have_stopped_stay():
    starts = batch(point(1.0, 0.0), point(0.3, 1.0), point(0.3, -1.0))  # the first is a minimum
    loop = descend(GradientDescent(Steps(0.1)), TOY, starts, 300)
    assert [stop_of(int(code)) for code in loop.states.stop] == [Stop.STATIONARY] * 3
    assert int(loop.used[0]) == 1
    assert int(max(loop.used[1:])) == int(loop.iteration) > 20
    assert np.array_equal(loop.states.student.positions[0], starts.positions[0])


@pytest.mark.slow
def test_the_limit_of_iterations_has_the_methods_name():
    for name, expected in (("gd", Stop.ITERATION_LIMIT), ("noisy-sgd", Stop.FAIL)):
        method = METHODS[name]
        loop = descend(method, TOY, STARTS, 7)
        assert np.all(loop.states.stop[:2] == RUNNING)
        assert stop_of(int(stop_codes(method, loop, False)[0])) == expected
