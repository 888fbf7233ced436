"""`ew.learn`: recovery, interruption, files, repetition and refusals."""

import shutil

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.descent import node_wise
from earnshaw.errors import EarnshawError
from earnshaw.files import checkpoints


@pytest.fixture(scope="module")
def teacher():
    return ew.random_teacher("almost-harmonic", dim=3, units=4, seed=3)


@pytest.fixture(scope="module")
def run(teacher):
    return ew.learn(teacher, seed=5)


def same(first, second):
    """Equal to the last bit."""
    return np.array_equal(first.student.positions, second.student.positions) and np.array_equal(
        first.student.weights, second.student.weights
    )


def stop_after(count):
    """A report that is as good as Ctrl-C after `count` calls."""
    calls = []

    def report(progress):
        assert 0 <= progress.done <= progress.total
        calls.append(progress)
        if len(calls) == count:
            raise KeyboardInterrupt

    return report


@pytest.mark.slow
def test_every_unit_is_found_and_no_more(teacher, run):
    assert run.stop is ew.Stop.RECOVERED
    assert run.matching.is_permutation
    assert np.max(run.matching.distance) < 1e-9
    assert np.max(run.matching.weight_error) < 1e-8
    assert run.student.units == teacher.units
    # The loss of the run is that of the network.
    again = float(ew.population_loss(teacher).value(run.student))
    assert run.loss == pytest.approx(again, abs=1e-13)
    assert run.relative_loss < 1e-12
    assert np.all(run.history.node_iterations < 400)


@pytest.mark.slow
def test_progress_says_what_is_being_done(teacher, run):
    """Which unit, of how many if that is known, compiling before the first, and what is left."""
    said = []
    ew.learn(teacher, seed=5, report=said.append)
    first, *rest = said
    assert first.note.startswith("unit 1 of ?: compiling")
    assert (first.compiling, first.done, first.total) == (True, 0, np.inf)
    assert not any(later.compiling for later in rest)
    assert rest[0].note.startswith("unit 2 of ?: searching, ")
    assert "of the loss left" in rest[0].note
    assert rest[-1].note.startswith("4 units: dropping units that are not needed")
    assert rest[-1].note.endswith("5 rounds without a new one")


@pytest.mark.slow
def test_progress_of_many_starts_and_of_some_units(teacher):
    said = []
    ew.learn(teacher, "gd", seed=5, starts=2, iterations=40, report=said.append)
    assert said[0].compiling
    assert said[0].note.startswith("compiling")
    assert said[-1].note.startswith("iteration 40, 0 of 2 starts done, loss ")
    said.clear()
    ew.learn(teacher, seed=5, units=3, report=said.append)
    assert said[1].note.startswith("unit 2 of at most 3: ")
    assert said[1].total == 3


@pytest.mark.slow
def test_the_certificate_of_a_perfect_recovery(teacher, run):
    found = run.certificate
    assert found.kind == "cusp-minimum"
    assert np.min(found.cusp_margins) > 0
    # With all units held, what is smooth is the weights, with Hessian 2 K.
    gram = teacher.potential.value(
        np.linalg.norm(teacher.positions[:, None] - teacher.positions[None], axis=-1)
    )
    smallest = 2 * np.linalg.eigvalsh(np.asarray(gram))[0]
    assert found.smallest_eigenvalue == pytest.approx(smallest, rel=1e-8)
    assert run.summary()["certificate"]["gradient_norm"] < 1e-8


@pytest.mark.slow
def test_losses_fall_with_every_unit(run):
    assert np.all(np.diff(run.history.losses) <= 1e-12)
    for path, position in zip(run.history.paths, run.student.positions, strict=True):
        assert np.array_equal(path[-1], position)


@pytest.mark.slow
def test_the_same_again(teacher, run):
    assert same(run, ew.learn(teacher, seed=5))
    # Another seed goes another way, though it may well end in the same bits.
    other = ew.learn(teacher, seed=6)
    assert not np.array_equal(other.history.paths[0], run.history.paths[0])


@pytest.mark.slow
def test_nothing_is_compiled_again_between_nodes_or_seeds(monkeypatch):
    """Of another dimension than elsewhere, so that nothing is compiled yet."""
    traces = []
    plain = node_wise.ascend
    monkeypatch.setattr(node_wise, "ascend", lambda *given: traces.append(1) or plain(*given))
    for seed in range(3):
        hidden = ew.random_teacher("almost-harmonic", dim=2, units=3, seed=seed)
        assert ew.learn(hidden, seed=seed).stop is ew.Stop.RECOVERED
    assert len(traces) == 1


@pytest.mark.slow
@pytest.mark.parametrize("method", ["node-wise", "gd"])
def test_interrupted_and_resumed_is_uninterrupted(method, teacher, tmp_path):
    asked = {"method": method, "seed": 5, "iterations": None if method == "node-wise" else 60}
    whole = ew.learn(teacher, **asked)
    file = tmp_path / "run.npz"
    part = ew.learn(teacher, **asked, save=file, report=stop_after(2))
    assert part.stop is ew.Stop.INTERRUPTED
    assert part.iterations < whole.iterations
    rest = ew.learn(teacher, **asked, resume=file, save=file)
    assert same(rest, whole)
    assert rest.stop is whole.stop
    assert np.array_equal(rest.history.losses, whole.history.losses)
    # The file alone is enough, also of a run that has ended.
    assert same(ew.learn(resume=file), whole)


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_last_checkpoint(teacher, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    file, copy = tmp_path / "run.npz", tmp_path / "copy.npz"

    def report(progress):
        if progress.done == 2:
            shutil.copy(file, copy)  # what kill -9 would leave

    whole = ew.learn(teacher, seed=5, save=file, report=report)
    assert same(ew.learn(resume=copy), whole)


@pytest.mark.slow
def test_a_longer_run_goes_on_from_a_shorter(teacher, tmp_path):
    file = tmp_path / "run.npz"
    short = ew.learn(teacher, "gd", seed=5, iterations=30, save=file)
    assert short.stop is ew.Stop.ITERATION_LIMIT
    assert same(
        ew.learn(resume=file, iterations=60), ew.learn(teacher, "gd", iterations=60, seed=5)
    )


@pytest.mark.slow
def test_files_of_another_problem_are_refused(teacher, tmp_path):
    file = tmp_path / "run.npz"
    ew.learn(teacher, "gd", seed=5, iterations=2, save=file)
    before = file.read_bytes()
    other = ew.random_teacher("almost-harmonic", dim=3, units=4, seed=4)
    for asked, why in (
        ({"teacher": other}, "another teacher"),
        ({"seed": 6}, "seed 5, not 6"),
        ({"method": "second-gd"}, "method 'gd', not 'second-gd'"),
    ):
        with pytest.raises(EarnshawError, match=why):
            ew.learn(**asked, resume=file)
    assert file.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"no archive", "teacher", "short"])
def test_foreign_files_are_refused(content, teacher, tmp_path):
    file = tmp_path / "run.npz"
    if content == "teacher":
        ew.save(file, teacher)
    elif content == "short":
        ew.learn(teacher, "gd", seed=5, iterations=2, save=file)
        file.write_bytes(file.read_bytes()[:-300])
    else:
        file.write_bytes(content)
    with pytest.raises(EarnshawError, match="cannot read"):
        ew.learn(resume=file)


REFUSED = [
    ({"method": "no-such"}, "unknown method"),
    ({"units": 0}, "units is 0"),
    ({"units": -3}, "units is -3"),
    ({"seed": -1}, "seed is -1"),
    ({"tolerance": -1.0}, "tolerance"),
    ({"steps": 0.1}, "finds its own"),
    ({"method": "gd", "steps": -1.0}, "steps is -1.0"),
    ({"method": "gd", "steps": "fast"}, "steps is 'fast'"),
    ({"method": "gd", "steps": float("nan")}, "steps is nan"),
    ({"method": "newton"}, "without a cusp"),
    ({"objective": "assumption-1"}, "assumption-1 needs every weight"),
    ({"method": "node-wise-sgd"}, "fixed weights"),
    ({"wrt": "positions"}, "chooses weights"),
    ({"batch": 5}, "needs samples"),
    ({"start": "lemma-4.5"}, "its own starts"),
    ({"method": "hessian-descent", "steps": "theory"}, "no theory steps"),
    pytest.param(
        {"method": "node-wise-paper", "steps": "theory"}, "below rounding", marks=pytest.mark.slow
    ),
    ({"save": "run.txt"}, "allowed endings: .npz"),
    ({"resume": "no-such.npz"}, "there is no such file"),
]


@pytest.mark.parametrize(("asked", "why"), REFUSED, ids=str)
def test_refusals(asked, why, teacher):
    with pytest.raises(EarnshawError, match=why) as error:
        ew.learn(teacher, **asked)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_refusals_on_the_sphere():
    hidden = ew.random_teacher("hermite-3", 3, 2, on="sphere")
    with pytest.raises(EarnshawError, match=r"ball of R\^d"):
        ew.learn(hidden, "node-wise-paper")
    with pytest.raises(EarnshawError, match="not on the sphere"):
        ew.learn(hidden, "gd", start="lemma-4.5")


@pytest.mark.slow
def test_unbounded_potentials_have_no_node_wise_learning():
    hidden = ew.random_teacher("harmonic", 3, 2)
    with pytest.raises(EarnshawError, match="bounded where units meet"):
        ew.learn(hidden)


@pytest.mark.slow
def test_theory_steps_below_rounding_are_refused(teacher):
    with pytest.raises(EarnshawError, match=r"below rounding .* iterations; allowed"):
        ew.learn(teacher, "second-gd", steps="theory")


@pytest.mark.slow
def test_theory_steps_that_can_be_run_say_what_they_promise():
    hidden = ew.random_teacher("gaussian", 2, 1, positions="gaussian")
    run = ew.learn(hidden, "gd", steps="theory", tolerance=1e-2, iterations=20)
    assert "B1" in run.notes[0]
    assert "at most" in run.notes[1]
    assert np.all(np.diff(run.history.losses) <= 0)


@pytest.mark.slow
def test_best_of_several_starts():
    hidden = ew.random_teacher("gaussian", 2, 2, positions="gaussian")
    runs = [ew.learn(hidden, "gd", iterations=50, starts=n).loss for n in (1, 4)]
    assert runs[1] <= runs[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "shift"), [(0.01, 0.0), (0.1, 0.0), (10.0, 0.0), (100.0, 0.0), (1.0, 1000.0)]
)
def test_nobody_says_how_large_a_teacher_is_nor_where(factor, shift):
    """Starts of any scale: the same charges larger, smaller or elsewhere are found as well."""
    usual = ew.random_teacher("almost-harmonic", 7, 6, seed=4)
    places = factor * np.asarray(usual.positions) + shift * np.eye(7)[2]
    teacher = ew.Teacher(places, usual.weights, "almost-harmonic")
    found = ew.learn(teacher, seed=2).matching
    assert found.is_permutation
    assert np.max(found.distance) <= 1e-12 * max(1.0, shift, factor)
    assert np.max(found.weight_error) <= 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ["float64", "noisy:1e-9", "rounded:1e-9"])
def test_what_is_learned_is_as_good_as_the_answers(oracle):
    """At a cusp of slope 7.8 an error of tau in F moves a unit by about tau, a weight by tau."""
    teacher = ew.random_teacher("almost-harmonic", 3, 4, seed=0)
    run = ew.learn(teacher, seed=0, oracle=oracle)
    assert run.matching.is_permutation
    assert run.oracle == oracle
    tau = 1e-15 if oracle == "float64" else 1e-9
    assert np.max(run.matching.distance) < 100 * tau
    assert np.max(run.matching.weight_error) < 100 * tau


@pytest.mark.slow
def test_where_every_answer_is_wrong_by_more_than_the_field_nothing_is_found():
    """d = 15: F is 1e-36 at the best of 256 starts, and an adversary may answer 0."""
    teacher = ew.random_teacher("almost-harmonic", 15, 4, seed=0)
    run = ew.learn(teacher, seed=0, oracle="rounded:1e-9")
    assert (run.student.units, str(run.stop)) == (0, "no-new-unit")


@pytest.mark.slow
def test_climbs_without_iterations_end_the_run():
    teacher = ew.random_teacher("almost-harmonic", 2, 2, seed=0)
    run = ew.learn(teacher, seed=0, iterations=3, starts=1)
    assert str(run.stop) == "iteration-limit"
    assert run.student.units == 16
