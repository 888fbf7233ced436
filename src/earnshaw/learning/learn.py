"""`ew.learn`, the short path: initialise, descend, match, certify."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from earnshaw.charges.matching import match, unit_symmetries
from earnshaw.charges.network import (
    Student,
    Teacher,
    UnitKind,
    given_units,
    same_charges,
    same_teacher,
)
from earnshaw.descent.kind_by_kind import KindByKind
from earnshaw.descent.loop import Report
from earnshaw.descent.method import Stop
from earnshaw.descent.methods import (
    MethodOptions,
    check_method,
    has_cusps,
    node_wise_method,
    simultaneous_method,
)
from earnshaw.descent.node_wise import NodeWise
from earnshaw.descent.nodes import PATH, usual_starts
from earnshaw.duality.activation import DotProduct
from earnshaw.energy.asked_kinds import AskedKinds, asked_kinds
from earnshaw.energy.asked_loss import AskedLoss, asked_loss
from earnshaw.energy.bent import bent_loss
from earnshaw.energy.empirical import empirical_loss
from earnshaw.energy.objective import Objective
from earnshaw.energy.oracle import oracle_of
from earnshaw.energy.population import PopulationLoss, population_loss
from earnshaw.energy.variants import Terms, check_ones
from earnshaw.errors import EarnshawError
from earnshaw.landscape.certificate import certificate
from earnshaw.learning._bends_and_kinds import (
    BendByBend,
    KindAfterKind,
    OfSeveralKinds,
    within_limit,
)
from earnshaw.learning._run_file import Stored, read_run, restored, run_checkpoints
from earnshaw.learning._sessions import (
    AllAtOnce,
    NodeByNode,
    OfOneKind,
    Outcome,
    Reduction,
    Session,
    reduced,
)
from earnshaw.learning._starts import first_students
from earnshaw.learning.run import Run, decided
from earnshaw.learning.samples.sampled_nodes import sampled_nodes, translation
from earnshaw.learning.settings import Settings
from earnshaw.limits import check_memory
from earnshaw.numerics.fixed_order import one_blas_thread
from earnshaw.settings import given

ITERATIONS = 100_000  # of methods of all units
COPIES = 16  # of the starts of a unit
SAMPLE = 256  # points over which what is left is averaged
MOST_UNITS = 4096  # of a student, unless more are asked for


@one_blas_thread()
def learn(
    teacher: Teacher | None = None,
    method: str | None = None,
    *,
    seed: int | None = None,
    units: int | None = None,
    student: Student | None = None,
    objective: str | None = None,
    wrt: str | None = None,
    oracle: str | None = None,
    samples: int | None = None,
    batch: int | None = None,
    starts: int | None = None,
    start: str | None = None,
    start_scale: float | None = None,
    student_activation: str | None = None,
    iterations: int | None = None,
    steps: str | float | None = None,
    tolerance: float | None = None,
    save: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    report: Report | None = None,
) -> Run:
    """Learn a hidden network: find its units, match them, and say what kind of point was reached.

    Ctrl-C ends the run and returns what there is. The same arguments give the same result, to the
    last bit, however often the run was interrupted and resumed, and with any number of threads; on
    processors of one kind, with the same versions and compiler flags (docs/learning.md).

    Parameters
    ----------
    teacher
        the hidden network. Not needed to resume.
    method
        "node-wise" (the default), "node-wise-paper", "node-wise-sgd", "node-wise-gd"; or of
        all units at once "gd", "hessian-descent", "second-gd", "perturbed-gd", "noisy-sgd",
        "newton".
    seed
        of starts, samples and noise; 0.
    units
        how many units the student may have. Node-wise methods of the papers, and methods of
        all units, are told how many the teacher has; "node-wise" finds the number itself.
    student
        where methods of all units start; by default at random.
    objective
        "full" (the default), "regularized", "assumption-1"; "without-constants" for
        unbounded potentials.
    wrt
        what moves: "both", "positions" or "weights".
    oracle
        all that the learner may ask of the teacher: "exact" (the default: its field in the
        log domain), "float64", "noisy:TAU", "rounded:TAU" (`energy/oracle.py`) or "samples:N",
        N random inputs with their answers. Activations of x - w are then searched for on the
        samples (`samples/sampled_nodes.py`).
    samples
        N, the same as oracle="samples:N".
    batch
        the size of minibatches, for noisy-sgd.
    starts
        how many starts: of all units (1), or of each unit (8).
    start
        "random", or "lemma-4.5": one unit at the origin with its best weight, the others
        of weight 0 (Full, Lemma 4.5).
    start_scale
        how far from the origin random starts are, times what is usual
        (`nodes.usual_starts`): nothing of it comes from the teacher. On R^d node-wise methods
        look at other scales too.
    student_activation
        that of the student's units, if not the teacher's: a name, or one a
        unit, "relu,relu,tanh".
    iterations
        how many at most; for node-wise methods, for each unit.
    steps
        "adaptive", "theory", or a number for constant steps.
    tolerance
        the eps of M_eps; for "node-wise", the part of the loss that is worth a unit.
    save
        an NPZ file to keep the run in, written every few seconds and at the end.
    resume
        such a file, to go on from.
    report
        called with a `Progress` now and then.

    Returns
    -------
    Run
        `.student`, `.result`, `.matching`, `.certificate`, `.history`, `.stop`.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> run = ew.learn(teacher, seed=0)  # not told that there are two units
    >>> run.result, run.student.units
    ('recovered', 2)
    >>> bool(max(run.matching.distance) < 1e-9)
    True
    """
    asked = given(Settings, locals())
    leaves = None
    if resume is None:
        settings = Settings(**asked)
    else:
        stored = read_run(resume)
        try:
            settings = stored.settings.agreeing(asked)
            teacher, student = _same(stored, teacher, student)
        except EarnshawError as error:
            raise EarnshawError(f"cannot resume {str(resume)!r}: {error}") from None
        leaves = stored.leaves
    if not isinstance(teacher, Teacher):
        raise EarnshawError(f"learn needs a Teacher, not {type(teacher).__name__}; or resume=")

    loss = objective_of(teacher, settings)
    check_method(settings.method, loss)
    seen = _seen(loss, settings)
    session, notes = _session(teacher, loss, seen, settings, student)
    keeper = None if save is None else run_checkpoints(save, settings, teacher, student)
    state = session.begin()
    if leaves is not None:
        state = _where_it_stopped(session, state, leaves, f"cannot resume {str(resume)!r}")
    kept: list[Any] = [state]

    def checkpoint(state: Any) -> None:
        kept[0] = state
        if keeper is not None:
            keeper.keep(state)

    state, interrupted = session.go(state, report, checkpoint)
    if keeper is not None:
        keeper.write(kept[0])  # before the finish, which is done again when the run is resumed
    outcome = session.outcome(state, interrupted)
    before = outcome.student.units
    reduction = _reduction(teacher, seen, settings, session)
    if reduction is not None:
        outcome = reduced(seen, reduction, outcome)
    if isinstance(session, BendByBend) and settings.units is not None:
        outcome = within_limit(seen, outcome, settings.units)
    if outcome.student.units < before:
        notes = (*notes, f"{before} units, brought to the {outcome.student.units} that do the same")
    unfinished = outcome.stop in (Stop.NO_NEW_UNIT, Stop.UNIT_LIMIT, Stop.STAGNANT)
    if settings.node_wise and unfinished and not isinstance(session, KindAfterKind):
        notes = (*notes, _left_over(teacher, loss, settings, outcome.student))
    return _run(teacher, loss, settings, outcome, notes)


def load_run(path: str | os.PathLike[str]) -> Run:
    """The run in a file as it was left: nothing is computed further.

    Parameters
    ----------
    path
        an NPZ file that ``ew.learn(save=...)`` wrote.

    Returns
    -------
    Run
        With the student, the history and the settings that it had.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[0.0, 0.0], [2.0, 0.0]], [1.0, -1.0], "gaussian")
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "run.npz"
    ...     run = ew.learn(teacher, "gd", iterations=5, save=file)
    ...     ew.load_run(file).loss == run.loss
    True
    """
    stored = read_run(path)
    loss = objective_of(stored.teacher, stored.settings)
    seen = _seen(loss, stored.settings)
    session, notes = _session(stored.teacher, loss, seen, stored.settings, stored.start)
    begun, otherwise = session.begin(), f"cannot read {str(path)!r}"
    state = _where_it_stopped(session, begun, stored.leaves, otherwise)
    return _run(stored.teacher, loss, stored.settings, session.outcome(state, True), notes)


def _where_it_stopped(
    session: Session, begun: Any, leaves: list[np.ndarray], otherwise: str
) -> Any:
    try:
        state = restored(begun, leaves)
        session.check(state)
        return state
    except EarnshawError as error:
        raise EarnshawError(f"{otherwise}: {error}") from None


def _left_over(teacher: Teacher, loss: Objective, settings: Settings, student: Student) -> str:
    """What a free unit would save on average: EPD, Theorem 4.4's alternative to recovery."""
    around = usual_starts(loss.manifold, loss.dim, teacher.species.of_directions)
    points = around.draw(settings.seed, 0, SAMPLE, loss.dim)
    mean = float(jnp.mean(jnp.exp(loss.left_by(student).free_units(points).log_savings)))
    return (
        f"the potential of what is left has mean square {mean:.2e} over {SAMPLE} random points, "
        f"and a loss of {float(loss.value(student)):.2e} is left"
    )


def _same(
    stored: Stored, teacher: Teacher | None, student: Student | None
) -> tuple[Teacher, Student | None]:
    """The stored teacher and start, if those given are none or the same."""
    if teacher is not None and not same_teacher(teacher, stored.teacher):
        raise EarnshawError("it is a run with another teacher")
    if student is not None and not (
        stored.start is not None and same_charges(student, stored.start)
    ):
        raise EarnshawError("it is a run with another start")
    return stored.teacher, stored.start


def objective_of(teacher: Teacher, settings: Settings) -> Objective:
    """The loss that a run with these settings descends."""
    name, wrt = settings.objective, settings.wrt
    if settings.method == "node-wise-sgd" and name == "assumption-1":
        # Units to come have weight 0 for a while, which Assumption 1 itself would refuse.
        check_ones("teacher", teacher.weights)
        name, wrt = "full", "positions"
    if settings.samples is None:
        if settings.batch is not None:
            raise EarnshawError("batch= needs samples=")
        return population_loss(teacher, name, wrt=wrt, activation=settings.student_units)
    if settings.student_activation is not None:
        raise EarnshawError("student_activation= needs an exact loss; allowed: no samples")
    return empirical_loss(
        teacher,
        settings.samples,
        seed=settings.seed,
        objective=name,
        wrt=wrt,
        batch=settings.batch,
    )


def _seen(loss: Objective, settings: Settings) -> Objective:
    """The loss as the learner sees it: through its oracle, and without the teacher.

    Theory steps are the exception: their constants are those of the theorems, which are told.
    """
    if loss.samples is not None or settings.steps == "theory":
        return loss
    exact = cast(PopulationLoss, loss)
    if exact.charge_shape:
        if settings.oracle != "exact":
            raise EarnshawError(f"oracle {settings.oracle} is for one output; allowed: exact")
        return loss
    return asked_loss(exact, oracle_of(settings.oracle, exact, settings.seed))


def _session(
    teacher: Teacher,
    exact: Objective,
    loss: Objective,
    settings: Settings,
    student: Student | None,
) -> tuple[Session, tuple[str, ...]]:
    """The run, ready to begin, and remarks on it. The learner sees `loss`, not the `exact` one."""
    options = MethodOptions(
        settings.steps, settings.tolerance, settings.iterations, settings.starts
    )
    seed, units = settings.seed, settings.units
    if settings.node_wise:
        if student is not None:
            raise EarnshawError(
                f"{settings.method} starts without units; allowed: student= for methods of all "
                "units"
            )
        check_memory({"starts": settings.starts or 1, "dimensions": teacher.dim}, COPIES)
        if units is not None:
            check_memory({"units": units, "dimensions": teacher.dim, "points of a path": PATH})
        limit = units
        if limit is None and settings.method == "node-wise":
            limit = MOST_UNITS
        sampled = settings.method == "node-wise" and settings.samples is not None
        if limit is not None and sampled and translation(loss) is not None:
            return NodeByNode(sampled_nodes(limit, options), loss, seed, units is not None), ()
        directions = teacher.species.of_directions
        around = usual_starts(loss.manifold, loss.dim, directions, settings.start_scale)
        kinds = _kinds(exact, settings) if loss.mixed else None
        placing = loss if kinds is None else kinds.alone[0]
        method, notes = node_wise_method(
            settings.method, placing, teacher.units if limit is None else limit, around, options
        )
        told = units is not None or settings.method != "node-wise"
        if kinds is not None:
            assert isinstance(method, NodeWise)
            several = KindByKind(one=method, losses=kinds, limit=method.limit)
            return KindAfterKind(several, placing, seed, told), notes
        bent = _bent(teacher, loss, settings)
        if bent is None:
            return NodeByNode(method, loss, seed, told), notes
        symmetries = unit_symmetries(teacher)
        return BendByBend(method, bent, seed, told, whole=loss, symmetries=symmetries), (
            *notes,
            "units were placed by what of the teacher is no affine function; so are the losses "
            "on the way",
        )
    batch = first_students(teacher, loss, settings, student)
    first = Student(batch.positions[0], batch.weights[0])
    joint, notes = simultaneous_method(settings.method, loss, first, options)
    limit = ITERATIONS if settings.iterations is None else settings.iterations
    return AllAtOnce(joint, loss, batch, limit, seed), notes


def _kinds(exact: Objective, settings: Settings) -> AskedKinds:
    """What the learner may ask about units of each activation of the teacher."""
    has_cusps(exact)  # refuses jumps beside other activations, before the work and not after it
    return asked_kinds(cast(PopulationLoss, exact), settings.oracle, settings.seed)


def _bent(teacher: Teacher, loss: Objective, settings: Settings) -> AskedLoss | None:
    """The loss up to affine functions, where flips of units leave such behind."""
    symmetries, species = unit_symmetries(teacher), teacher.species
    placing = settings.method == "node-wise" and settings.student_activation is None
    flips = (symmetries.linear or symmetries.constant) and symmetries.quadratic is None
    if not (placing and flips and isinstance(loss, AskedLoss) and loss.manifold.name == "space"):
        return None
    activation = cast(DotProduct, species.activation)
    if activation.kinks:  # they show on which side a unit is
        return None
    return bent_loss(loss, symmetries, activation, species.inputs)


def _reduction(
    teacher: Teacher, seen: Objective, settings: Settings, session: Session
) -> Reduction | None:
    """How students of this run get smaller; None where they do not."""
    if isinstance(session, KindAfterKind):
        return OfSeveralKinds(session.method)
    if settings.student_activation is not None or seen.mixed:
        return None
    return OfOneKind(seen, unit_symmetries(teacher))


def _run(
    teacher: Teacher, loss: Objective, settings: Settings, outcome: Outcome, notes: tuple[str, ...]
) -> Run:
    asked, student = settings.student_units, outcome.student
    if student.unit_kind is None:
        student = student.of(teacher if asked is None else UnitKind(given_units(asked)))
    if teacher.biased:
        student = student.with_biases()
    matching = match(teacher, student)
    return Run(
        teacher=teacher,
        student=student,
        method=settings.method,
        stop=decided(outcome.stop, matching),
        iterations=outcome.iterations,
        loss=float(loss.value(student)),
        relative_loss=_relative_loss(teacher, loss, student),
        history=outcome.history,
        matching=matching,
        certificate=certificate(loss, student),
        settings=_described(teacher, settings),
        notes=notes,
    )


def _relative_loss(teacher: Teacher, loss: Objective, student: Student) -> float:
    """E[(f - g)^2] over E[f^2]; NaN where these are infinite."""
    if loss.samples is not None or loss.terms != Terms():
        loss = population_loss(teacher)
    empty = float(loss.empty_value())
    if not np.isfinite(empty) or empty == 0:
        return float("nan")
    return max(0.0, float(loss.value(student)) / empty)


def _described(teacher: Teacher, settings: Settings) -> dict[str, Any]:
    return dataclasses.asdict(settings) | {
        "activation": teacher.species.name,
        "parameters": dict(teacher.species.parameters),
        "dim": teacher.input_dim,
        "teacher_units": teacher.units,
        "on": teacher.manifold.name,
    }
