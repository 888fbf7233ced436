"""Compiled training: against NumPy, cut into pieces, and the same to the last bit."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.experiments.training import engine
from earnshaw.experiments.training.engine import LANES, Trainer, updates_of_call
from earnshaw.experiments.training.settings import Training
from experiments.training.digest import bits

SMALL = {"width": 6, "iterations": 20, "step": 0.01, "test_samples": 50, "records": 4}


@pytest.fixture
def small_pools(monkeypatch):
    """Pools of 8 updates, so that a run of 20 needs three, and ends within the third."""
    monkeypatch.setattr(engine, "POOL", 8)


def _finished(trainer):
    while not trainer.done:
        trainer.advance()
    return trainer


def _lane(layers, lane):
    return [tuple(None if a is None else np.array(a[lane]) for a in layer) for layer in layers]


def _answers(layers, x, settings):
    """f(x) by NumPy, for tanh without gain; x of shape (n, d)."""
    h = x
    for weights, biases in layers:
        h = np.tanh(h @ weights.T + (0 if biases is None else biases))
    return h[:, 0]


def _assert_same(one, other):
    np.testing.assert_array_equal(one.errors, other.errors)
    for a, b in zip(*map(jax.tree.leaves, (one.student, other.student)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.usefixtures("small_pools")
def test_a_run_cut_into_pieces_is_the_same_run():
    settings = Training(**SMALL)
    whole = _finished(Trainer(settings, 0))
    cut, cuts = Trainer(settings, 0), []
    while not cut.done:
        cut.advance()
        cuts.append(cut.iteration)
        cut = Trainer(settings, 0, cut.state())
    assert {8, 16, 20} <= set(cuts)  # at the ends of pools
    assert set(cuts) & set(range(1, 8))  # and within
    _assert_same(whole, cut)


@pytest.mark.slow
@pytest.mark.usefixtures("small_pools")
def test_records_change_what_is_seen_and_nothing_else():
    few, many = (_finished(Trainer(Training(**(SMALL | {"records": k})), 0)) for k in (1, 30))
    assert set(few.marks) < set(many.marks)
    assert set(range(1, 8)) <= set(many.marks)  # cut after every one of these updates
    shared = [many.marks.index(mark) for mark in few.marks]
    np.testing.assert_array_equal(np.array(few.errors), np.array(many.errors)[shared])
    few.errors = many.errors
    _assert_same(few, many)


def test_a_seed_does_not_depend_on_the_others():
    all_of_two_blocks = ew.train(seeds=2 * LANES, **SMALL)
    some = ew.train(seeds=[7, 2], **SMALL)
    assert [run.seed for run in some] == [7, 2]
    for run in some:
        assert bits(run) == bits(all_of_two_blocks[run.seed])
    assert len({bits(run) for run in all_of_two_blocks}) == 2 * LANES


@pytest.fixture
def compilations():
    """The names of what is compiled from now on."""
    names, event = [], "/jax/core/compile/backend_compile_duration"

    def listen(name, seconds, **about):
        if name == event:
            names.append(about["fun_name"])

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names
    jax.monitoring.unregister_event_duration_listener(listen)


def test_no_compilation_for_what_is_not_in_the_code(compilations):
    ew.train(**SMALL)
    compilations.clear()
    ew.train(**(SMALL | {"step": 0.3, "iterations": 33, "records": 7, "weight_scale": 0.5}))
    ew.train(**SMALL, seeds=[12, 3])
    assert compilations == []
    ew.train(**SMALL, loss="sum")
    assert compilations.count("jit(updated)") == 1


SENSITIVE = {"depth": 5, "width": 20, "iterations": 100, "test_samples": 50, "records": 1}


@pytest.mark.slow
def test_flags_of_the_process_do_not_change_a_bit():
    (ours,) = ew.train(**SENSITIVE)
    words = (
        "import earnshaw as ew; from experiments.training.digest import bits;"
        f"(run,) = ew.train(**{SENSITIVE}); print(bits(run))"
    )
    flags = (
        "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
        "--xla_cpu_use_fusion_emitters=true --xla_cpu_multi_thread_eigen=true "
        "--xla_cpu_enable_fast_math=true --xla_cpu_prefer_vector_width=512"
    )
    path = os.pathsep.join(path for path in sys.path if path)
    surroundings = os.environ | {"XLA_FLAGS": flags, "PYTHONPATH": path, "EARNSHAW_CACHE": "off"}
    surroundings.pop("JAX_COMPILATION_CACHE_DIR", None)
    theirs = subprocess.run(
        [sys.executable, "-c", words], env=surroundings, capture_output=True, text=True, check=True
    )
    assert theirs.stdout.split() == [bits(ours)]


@pytest.mark.slow
def test_error_is_that_of_the_network():
    """Against 1e5 samples of our own: both means are within their error bars."""
    runs = ew.train(**(SMALL | {"bias": True, "test_samples": 5000, "iterations": 500}), seeds=5)
    x = np.random.default_rng(99).standard_normal((100_000, 5))
    for run in runs:
        f, g = (_answers(layers, x, run.settings) for layers in (run.teacher, run.student))
        for measured, squares in ((run.error, (f - g) ** 2), (run.scale, f**2)):
            deviation = np.std(squares) * np.sqrt(1 / 5000 + 1 / 100_000)
            assert abs(measured - np.mean(squares)) < 5 * deviation
        assert run.errors[0] > 2 * run.error  # it learns
        assert run.iterations[0] == 0
        assert run.iterations[-1] == 500


def test_samples_are_gaussian_and_each_its_own():
    trainer = Trainer(Training(**(SMALL | {"batch": 20})), 0)
    pools = [trainer._samples(role, number, 20, 20).x for role, number in ((2, 0), (2, 1), (3, 0))]
    drawn = np.stack(pools).reshape(-1, 5)  # of all pools, updates, lanes and samples of a step
    assert len(np.unique(drawn, axis=0)) == len(drawn)
    covariance = drawn.T @ drawn / len(drawn)
    np.testing.assert_allclose(covariance, np.eye(5), atol=5 * np.sqrt(2 / len(drawn)))
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=5 / np.sqrt(len(drawn)))


@pytest.mark.slow
def test_both_precisions_train_the_same_network():
    wide, narrow = (ew.train(**SMALL, precision=p)[0] for p in ("float64", "float32"))
    for a, b in zip(*map(jax.tree.leaves, (wide.student, narrow.student)), strict=True):
        assert b.dtype == "float32"
        np.testing.assert_allclose(a, b, atol=1e-5)
    np.testing.assert_allclose(wide.errors, narrow.errors, rtol=1e-4)
    assert narrow.errors.dtype == "float64"


@pytest.mark.slow
def test_divergence_is_told_without_a_warning(recwarn):
    steep = SMALL | {"step": 1e3, "output": "linear", "iterations": 200, "records": 20}
    runs = ew.train(**steep, activation="softplus", seeds=LANES)
    assert all(np.isfinite(run.errors[0]) and not np.isfinite(run.error) for run in runs)
    assert not [warning for warning in recwarn if warning.category is RuntimeWarning]


@pytest.mark.parametrize(
    "large", [{"data": "fixed", "samples": 100_000}, {"width": 1000, "depth": 5}, {"dim": 2000}]
)
def test_calls_are_short_however_large_the_network(large):
    settings = Training(**large)
    updates = updates_of_call(settings)
    samples = LANES * updates * settings.samples_a_step
    assert 1 <= updates < updates_of_call(Training()) == engine.POOL
    assert updates == 1 or samples * settings.dim <= engine.POOL_NUMBERS
    assert updates == 1 or samples * settings.parameters() <= engine.POOL_WORK


def test_progress_is_reported():
    seen = []
    ew.train(**SMALL, report=seen.append)
    done = [progress.done for progress in seen]
    assert done == sorted(done)
    assert (done[-1], seen[-1].total) == (20, 20)
    assert "error" in seen[-1].note
