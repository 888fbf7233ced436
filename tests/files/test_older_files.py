"""Files that earlier versions wrote are read, and hold what `json` and `np.load` find in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import earnshaw as ew
from earnshaw.learning.fitting.model_file import load_model
from earnshaw.papers.claims.results_file import load_results
from earnshaw.papers.claims.witness import load_witness

DATA = Path(__file__).parents[1] / "data"
BOTH = pytest.mark.parametrize("ending", ["json", "npz"])


def held(name: str) -> dict:
    """The fields of a file, by nothing of ours: arrays, and Python's own values."""
    if name.endswith(".json"):
        return json.loads((DATA / name).read_text())
    with np.load(DATA / name, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    return {key: a.item() if a.ndim == 0 else a for key, a in arrays.items()}


def part(fields: dict, prefix: str) -> dict:
    return {k.removeprefix(prefix): v for k, v in fields.items() if k.startswith(prefix)}


def same_teacher(teacher: ew.Teacher, fields: dict) -> None:
    same_charges(teacher, fields)
    species = teacher.species
    if "potential" in fields:
        assert (species.origin, species.name) == ("formula", fields["potential"])
    else:
        found = fields["parameters"]
        found = json.loads(found) if isinstance(found, str) else found
        assert species.name == fields["activation"]
        assert json.loads(json.dumps(dict(species.parameters))) == found
    assert species.inputs.width == fields["width"]
    assert teacher.manifold.name == fields["on"]


def same_charges(network: ew.Teacher | ew.Student, fields: dict) -> None:
    for name in ("positions", "weights"):
        np.testing.assert_array_equal(getattr(network, name), np.asarray(fields[name]))


@BOTH
@pytest.mark.parametrize("name", ["teacher", "formula-teacher"])
def test_teachers(name, ending):
    teacher = ew.load_teacher(DATA / f"{name}.{ending}")
    same_teacher(teacher, held(f"{name}.{ending}"))
    assert teacher.units == 2


@BOTH
def test_students(ending):
    student = ew.load_student(DATA / f"student.{ending}")
    same_charges(student, held(f"student.{ending}"))
    assert float(student.positions[1, 1]) == -1e300


@pytest.mark.quick("run-gd")
@pytest.mark.parametrize("name", ["run-gd", "run-node-wise"])
def test_runs(name):
    fields = held(f"{name}.npz")
    run = ew.load_run(DATA / f"{name}.npz")
    same_teacher(run.teacher, part(fields, "teacher."))
    settings = json.loads(fields["settings"])
    assert {key: run.settings[key] for key in settings} == settings
    # The student's arrays are among those of the state.
    state = [np.asarray(value) for value in part(fields, "state.").values()]
    for mine in (np.asarray(run.student.positions), np.asarray(run.student.weights)):
        assert any(mine.tobytes() in array.tobytes() for array in state)


@pytest.mark.slow
def test_a_run_goes_on():
    """Two iterations were kept, from a start of its own."""
    fields = held("run-gd.npz")
    start = ew.Student(fields["start.positions"], fields["start.weights"])
    rest = ew.learn(resume=DATA / "run-gd.npz", iterations=4)
    teacher = ew.load_run(DATA / "run-gd.npz").teacher
    whole = ew.learn(teacher, "gd", student=start, iterations=4)
    np.testing.assert_allclose(rest.student.positions, whole.student.positions, rtol=1e-12)
    assert rest.iterations == whole.iterations == 4


@pytest.mark.slow
def test_paths():
    fields = held("path.npz")
    path, settings = ew.load_path(DATA / "path.npz")
    same_teacher(path.teacher, part(fields, "teacher."))
    for name in ("times", "positions", "weights", "energy", "bound", "group", "steps", "stop"):
        np.testing.assert_array_equal(getattr(path, name), fields[name])
    assert [event._asdict() for event in path.events] == json.loads(fields["events"])
    assert settings == {"note": "mine"}
    for name, value in part(fields, "pause.").items():
        np.testing.assert_array_equal(getattr(path.pause, name), value)
    assert ew.go_on(path).stop == path.stop


@pytest.mark.slow
def test_hunts():
    fields = held("hunt.npz")
    assert list(fields["status"]) == [1] * 4  # all have arrived: nothing is left to do
    landscape = ew.hunt(resume=DATA / "hunt.npz")
    same_teacher(landscape.teacher, part(fields, "teacher."))
    settings = json.loads(fields["settings"])
    given = {key: value for key, value in settings.items() if value is not None}
    assert {key: landscape.settings[key] for key in given} == given
    np.testing.assert_array_equal(landscape.iterations, fields["iterations"])
    (only,) = landscape.found
    students = np.asarray(fields["positions"]).reshape(4, -1)
    mine = np.asarray(only.student.positions).reshape(-1)
    swapped = np.asarray(only.student.positions)[::-1].reshape(-1)
    gaps = [min(np.abs(s - mine).max(), np.abs(s - swapped).max()) for s in students]
    assert max(gaps) < 1e-6


@BOTH
@pytest.mark.parametrize("name", ["model", "model-classes"])
def test_models(name, ending):
    fields = held(f"{name}.{ending}")
    model = load_model(DATA / f"{name}.{ending}")
    for key in ("positions", "biases", "weights", "linear", "intercept"):
        mine, stored = getattr(model.network, key), np.asarray(fields[key])
        assert mine.shape == stored.shape or mine.size == 0
        np.testing.assert_array_equal(mine.ravel(), stored.ravel())

    def listed(key):
        return json.loads(fields[key]) if ending == "npz" else fields[key]

    for key in ("inputs", "targets", "classes"):
        assert list(getattr(model, key)) == listed(key)
    assert model.activation == fields["activation"]
    assert model.parameters == listed("parameters")
    assert model.settings == listed("settings")
    assert model.scores["r2"] == listed("scores")["r2"]
    assert np.isnan(model.scores["r2 spread"])
    assert listed("scores")["r2 spread"] is None


@pytest.mark.parametrize("name", ["proof-minimum", "proof-saddle"])
def test_proofs(name):
    fields = held(f"{name}.json")
    assert ew.check_proof(DATA / f"{name}.json").kind == fields["kind"]
    proof = ew.load_proof(DATA / f"{name}.json")
    same_teacher(proof.teacher, fields["teacher"])
    same_charges(proof.centre, fields["centre"])
    for key in ("kind", "reason", "wrt", "objective", "radius", "bits", "variables", "moved"):
        assert getattr(proof, key) == fields[key]
    for key in ("smallest_eigenvalue", "curvature"):
        assert getattr(proof, key) == fields[key]
    for key in ("held_by", "loss", "direction", "margins"):
        mine = getattr(proof, key)
        assert (None if mine is None else list(mine)) == fields[key]


def test_claims():
    fields = held("claims.json")
    setup = {key: fields[key] for key in ("preset", "instances", "seed")}
    results = load_results(DATA / "claims.json", setup)
    assert set(results) == set(fields["claims"]) == {"yukawa-activation", "psd-necessary"}
    for name, result in results.items():
        for outcome, stored in zip(result.outcomes, fields["claims"][name], strict=True):
            for key in ("name", "says", "role", "held", "failed", "undecided", "witness"):
                assert getattr(outcome, key) == stored[key]
            assert {key: list(span) for key, span in outcome.numbers.items()} == stored["numbers"]
    assert str(results["yukawa-activation"].verdict) == "corrected"


def test_witnesses():
    fields = held("witness.json")
    witness = load_witness(DATA / "witness.json")
    assert witness._asdict() == {key: fields[key] for key in ("claim", "statement", "instance")}
    assert witness.again().holds is False
